"""How every process logs: one line an event, `noun.past_participle` with fields, for people or as JSON.

Never a local variable, a parameter, a token or a customer's words (INVARIANT 12).
"""

import logging
import sys

import structlog
from structlog.types import Processor


def configure(level: str, *, as_json: bool) -> None:
    """Set up structlog and the standard library's loggers, on standard error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    plain = structlog.dev.plain_traceback
    last: list[Processor] = (
        [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    )
    if as_json:
        last[0] = structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        )
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        level=max(logging.WARNING, getattr(logging, level.upper())), format="%(levelname)s %(name)s %(message)s"
    )
