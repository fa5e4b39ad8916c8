"""Settings, URLs, processes and servers of Gatehouse."""
