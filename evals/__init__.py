"""Golden cases, attacks, benchmarks, and the scripted model server they run against."""
