"""General English that a question is read with: common words, families of like words, verbs.

No tool is named here. What a shop sells and how it is asked for comes from the tools' example
questions, from hints of their arguments, and from registered vocabularies.
"""

from __future__ import annotations

from apps.providers.house.words import listed, stem

COMMON = listed(
    """
    random randomly
    a an the this that these those it its it's i'm i i'd i've me my mine we we're we've our
    ours us you your yours they their them he she his her hers one ones who whom whose what
    what's whats which where when why how is isn't are aren't am was wasn't were weren't be
    been being do does doesn't don't did didn't done doing has hasn't have haven't had hadn't
    having can can't could couldn't will won't would wouldn't shall should shouldn't may might
    must need needs needed let let's and or but nor so yet if then than as at by for from in
    into of off on onto out over to under up upon with within about above after again against
    all already also although always among any anybody anyone anything anywhere around because
    before behind below beneath beside besides between beyond both currently down during each
    either else enough especially even ever every everybody everyone everything everywhere
    exactly except few fewer further get gets getting go goes going gone got gotten give gives
    given hardly hello hey here hi inside instead just keep kind kinds largely lately least
    less like likely little lot lots maybe mainly many more most mostly much near nearly
    neither never new no nobody none not nothing now nowhere often ok okay only other others
    otherwise outside own people per perhaps please plus possibly pretty put quick quickly
    quite rather really right said same say says see seem seems seen several short show shows
    showing shown since some somebody someone something sometimes somewhere sort sorted sorts
    still stuff such sure take taken tell thank thanks that's there there's thing things think
    through throughout till together too total totals toward try two three four five six seven
    eight nine ten eleven twelve twenty thirty forty fifty sixty ninety hundred thousand until
    use used useful using usually various very via want wants way ways well went whatever
    whenever wherever whether while whole wish without work worth yes yeah yep nope etc eg ie
    mr mrs list lists listed listing display displayed find finding fetch pull bring look
    looking check know knows knew known question wonder wondering wondered curious interested
    anyway overall altogether exact rough roughly approximately approx average mean count
    counts number numbers amount amounts quantity sum figure figures today yesterday tomorrow
    day days week weeks month months year years quarter quarters time times date dates morning
    afternoon evening night tonight weekend weekends hour hours minute ago last past previous
    next current recent recently first second third top bottom early earlier late later latest
    old older oldest newer newest long longer longest shorter shortest high higher highest low
    lower lowest big bigger biggest small smaller smallest great greater greatest large larger
    largest cheap cheaper cheapest dear dearer dearest expensive pricey priciest costly best
    better good fair nice decent lovely bad worse worst popular slow slower slowest fast
    faster fastest hot cold left available remaining existing possible price priced prices
    pricing cost costs costing money cash bucks buck dollar dollars quid pound pounds euro
    euros cent cents usd eur gbp value values valued sell sells selling sold sale sales unsold
    buy buys buying bought sit sits sitting sat bin bins shelf shelves rack racks wall store
    stored stores shop shops inventory stock stocks stocked hold holds holding held carry
    carries keeps place places ascending descending order ordered orders sorting ranked rank
    alphabetical alphabetically result results row rows entry entries table include includes
    included including exclude excluding regardless status whichever matter broken breakdown
    split grouped group compare compared comparison versus vs pm cuz cos gonna wanna gimme
    lemme pls plz ta cheers mate folks guys team start starting begin beginning end ending run
    running come comes came coming make makes made making happen happened gather gathering
    gathered collecting dust move moved moving moves shift shifted shifting budge budged
    collect ask asks asked asking answer minimum maximum min max limit cap under-priced
    overpriced music musical film films full complete entire style styles genre genres format
    formats artist artists label labels title titles song songs plate plates platter platters
    wax name names away ready happy handy around's nearby lying spare anymore overview report
    summary summarise summarize stand stands standing gave taking state situation upstairs
    downstairs office phone counter desk website online web cut mark marked reduce similar
    related sort-of kindly urgent urgently boss manager colleague someone's window strong weak
    busy quiet interesting relevant particular certain specific general important decide
    decided consider considering consign idea ideas help helpful clear clearance discount
    discounts discounted promo promotion reduced reduction return returns back front side room
    choose chosen pick picks picked choice choices recommend recommended suggestion
    suggestions suggest walk walked walks caller calls called call visitor visitors christmas
    easter gift gifts present presents birthday party set play played plays playing dj djs
    hear heard listen listened love loved loves like-new brand condition conditions physical
    material catalogued correct correctly wrong right-now moment meanwhile soon different
    separate distinct single singles hope hoping hoped we'll i'll they're you're who's where's
    how's how're when's it'll ain't nobody's anyone's somebody's anybody's everyone's here's
    what're what've
    """
)  # fmt: skip

REQUESTS = listed("show list give find tell display fetch pull bring get need see let")

_FAMILIES = {
    "move": "move moves moved moving shift shifts shifted shifting budge budged bought buy buys",
    "sell": "sell sells sold sale sales selling seller sellers bestseller bestsellers",
    "income": "revenue turnover takings income earnings earn earned earns take took taken make "
        "made "
    "gross grossed proceeds turn turned business trade money cash till receipts takes makes",
    "want": "want wants wanted wanting wish wishes wishlist wishlists wantlist wantlists waiting "
        "wait "
    "waits await request requests requested seeking seek seeks hunting hunt chasing chase demand "
    "demanded desire desires craving interested looking asked",
    "person": "customer customers client clients buyer buyers punter punters people anybody anyone "
    "somebody someone person persons folks whom who collector collectors everybody",
    "unsold": "unsold sitting sit sits sat slow slowest stale stuck dead languishing linger "
        "lingering "
    "unmoved dusty dust stagnant slow-moving shelfwarmers",
    "cheap": "cheap cheaper cheapest bargain bargains inexpensive lowest lowest-priced budget",
    "dear": "expensive dear dearer dearest pricey priciest costly costliest valuable highest "
    "highest-priced pricier",
    "new": "new newest newly latest recent recently arrival arrivals arrived fresh added newer",
    "old": "old older oldest longest",
    "missing": "missing miss lack lacks lacking without no incomplete gap gaps problem problems "
        "absent blank empty "
    "hole holes",
    "stock": "stock stocks stocked inventory instock available remaining left",
    "hold": "have got has hold holds holding held carry carries own",
    "copy": "copy copies",
    "item": "item items record records disc discs piece pieces thing things stuff product products "
    "lot listing listings anything something",
    "release": "release releases pressing pressings edition editions reissue album albums",
    "price": "price prices priced cost costs costing charge charges charging asking pricing ask",
    "worth": "worth value values valued",
    "catalog": "catalog catalogue catalogs catalogues database data metadata",
    "health": "health healthy quality completeness complete tidy tidiness cleanliness state",
    "refund": "refund refunds refunded refunding returned returns",
    "order": "order orders ordered purchase purchases purchased transaction transactions",
    "best": "best top biggest popular most greatest strongest",
    "detail": "detail details detailed info information about describe description",
    "catno": "catno catno. cat#",
    "track": "track tracks tracklist tracklisting tracklistings song songs tune tunes",
    "artist": "artist artists band bands musician performer singer",
    "look": "lookup look looked",
    "search": "search searching find finding found locate",
    "condition": "condition conditions grade grades graded grading shape",
    "count": "many count number total totals",
    "compare": "compare compared comparison versus vs against",
    "image": "image images picture pictures photo photos cover artwork scan scans",
    "year": "year years date dates dated",
    "open": "open outstanding unfilled unfulfilled pending",
    "fill": "filled fulfilled fill satisfied completed",
    "drop": "dropped drop abandoned cancelled canceled withdrawn",
    "unit": "unit units",
    "place": "where located location locations bin shelf shelves rack crate",
}  # fmt: skip

FAMILY: dict[str, str] = {
    word: family for family, words in _FAMILIES.items() for word in words.split()
}

NEGATIONS = listed(
    "not no never without hasn't haven't hadn't didn't isn't aren't wasn't weren't don't doesn't "
    "won't hasnt havent didnt doesnt dont isnt arent zero nobody neither ain't failed cannot can't"
)

CHANGES = listed(
    """
    delete remove erase wipe set change update edit alter modify reprice mark add create insert make
    send email mail post refund cancel rename move put reduce raise lower increase decrease drop cut
    discount bump slash import export upload publish sell buy order withdraw close
    archive restock restore adjust fix correct assign ban kick timeout reset double halve relist
    unlist knock apply reserve ship drop-price book charge clear purge
    """
)


def concept(word: str) -> str:
    """The family of like words that this one belongs to, or its stem."""
    return FAMILY.get(word) or FAMILY.get(stem(word)) or stem(word)


def is_common(word: str) -> bool:
    """Whether the word says nothing by itself about what is looked for."""
    bare = word.removesuffix("'s")
    return word in COMMON or bare in COMMON or word in FAMILY or bare in FAMILY
