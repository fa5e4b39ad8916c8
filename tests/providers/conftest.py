from evals.fixtures import model_server

__all__ = ["model_server"]
