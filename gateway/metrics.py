"""What the gateway counts, in a registry of its own, for Prometheus.

Labels are route templates, methods, statuses and slugs: no id and no text is ever one (INVARIANT 12).
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
UNMATCHED = "unmatched"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """The gateway's own measures; made once per process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "interlock_http_requests", "Answers given.", ["route", "method", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "interlock_http_request_seconds",
            "From the first byte read to the last byte sent; event streams are left out.",
            ["route", "method"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._refusals = Counter("interlock_http_refusals", "Problems told.", ["slug"], registry=self.registry)
        self.streams = Gauge("interlock_event_streams", "Event streams open now.", registry=self.registry)
        self.outbox_waiting = Gauge("interlock_outbox_waiting", "Wake-ups not delivered yet.", registry=self.registry)
        self.outbox_oldest_s = Gauge(
            "interlock_outbox_oldest_seconds", "How long the oldest of them has waited.", registry=self.registry
        )
        self.listening = Gauge("interlock_events_heard", "1 while new events are heard.", registry=self.registry)

    def answered(self, route: str, method: str, status: int, took_s: float | None) -> None:
        """Count one answer; `took_s` None: an event stream, which has no length of its own."""
        method = method if method in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        if took_s is not None:
            self._seconds.labels(route, method).observe(took_s)

    def refused(self, slug: str) -> None:
        """Count one problem."""
        self._refusals.labels(slug).inc()

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)
