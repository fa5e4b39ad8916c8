"""Import a collection export (CSV)."""

from apps.shop.importers.command import ImportCommand


class Command(ImportCommand):
    help = __doc__
    kind = "import_collection"
    file_help = "the collection export, CSV"
