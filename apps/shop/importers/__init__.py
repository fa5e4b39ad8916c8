"""Importers: Discogs' exports into the shop, streamed, checkpointed, and told row by row."""
