"""A profile has its credential's provider and owner, and an owner is spelt from its id."""

from django.db import migrations

SPELT = """
ALTER TABLE {table} ADD CONSTRAINT {name} CHECK (
    owner = CASE owner_type
        WHEN 'guild' THEN 'guild:' || guild_id
        WHEN 'user' THEN 'user:' || user_id
        WHEN 'tenant' THEN 'tenant'
    END
)
"""
MATCHED = """
ALTER TABLE providers_modelprofile ADD CONSTRAINT providers_profile_matches_key
    FOREIGN KEY (credential_id, provider, owner)
    REFERENCES providers_credential (id, provider, owner) ON DELETE CASCADE
"""
DROP = "ALTER TABLE {table} DROP CONSTRAINT {name}"


def spelt(table: str, name: str) -> migrations.RunSQL:
    names = {"table": table, "name": name}
    return migrations.RunSQL(SPELT.format(**names), DROP.format(**names))


class Migration(migrations.Migration):
    dependencies = [("providers", "0001_sealed_keys_and_models")]

    operations = [
        spelt("providers_credential", "providers_key_owner_spelt"),
        spelt("providers_modelprofile", "providers_profile_owner_spelt"),
        migrations.RunSQL(
            MATCHED,
            DROP.format(table="providers_modelprofile", name="providers_profile_matches_key"),
        ),
    ]
