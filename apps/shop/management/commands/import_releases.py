"""Import a dump of releases (XML, also gzip) into the catalogue."""

from apps.shop.importers.command import ImportCommand


class Command(ImportCommand):
    help = __doc__
    kind = "import_releases"
    file_help = "releases.xml or releases.xml.gz"
