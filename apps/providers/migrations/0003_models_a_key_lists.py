from django.db import migrations, models


class Migration(migrations.Migration):
    """Keep the models that a provider listed at the last good test of a key, for suggestions."""

    dependencies = [("providers", "0002_profiles_match_their_keys")]

    operations = [
        migrations.AddField(
            model_name="credential",
            name="listed_models",
            field=models.JSONField(default=list),
        )
    ]
