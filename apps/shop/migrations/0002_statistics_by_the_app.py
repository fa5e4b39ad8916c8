"""Lets the app login refresh the planner's statistics of the shop's tables.

Only a table's owner may run ANALYZE. Right after a load the planner would else guess a
handful of rows, and walk through all sales for each item.
"""

from django.db import migrations

TABLES = (
    "shop_release",
    "shop_releaseartist",
    "shop_releaselabel",
    "shop_releaseformat",
    "shop_track",
    "shop_identifier",
    "shop_stockitem",
    "shop_customer",
    "shop_sale",
    "shop_saleitem",
    "shop_want",
    "shop_collectionentry",
)
STATEMENTS = " ".join(f"ANALYZE public.{table};" for table in TABLES)


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_catalogue_stock_sales_and_lists")]

    operations = [
        migrations.RunSQL(
            "CREATE FUNCTION public.shop_refresh_statistics() RETURNS void LANGUAGE plpgsql"
            " SECURITY DEFINER SET search_path = pg_catalog, pg_temp"
            f" AS $$ BEGIN {STATEMENTS} END $$",
            "DROP FUNCTION public.shop_refresh_statistics()",
        )
    ]
