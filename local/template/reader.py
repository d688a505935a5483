"""Reads template.yaml: the one source of what is wired to what, here as in AWS.

Guarantees that nothing which changes how messages or requests flow is skipped: a property, event or resource of that
kind which the local stack does not imitate raises TemplateError. Networks, permissions, encryption and alarms are
passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local import sections
from local.api_routes import api_route
from local.conditions import settled
from local.errors import TemplateError
from local.intrinsics import load_document, resolve, target_of
from local.wiring import ApiRoute, Bucket, EventSource, Function, Queue, Schedule, Subscription, Topic

ACCOUNT_ID = "123456789012"
REGION = "us-east-1"
PSEUDO_PARAMETERS = {
    "AWS::AccountId": ACCOUNT_ID,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::StackName": "exhibit-ingest-local",
    "AWS::URLSuffix": "amazonaws.com",
}

_UNIMITATED = frozenset(
    {
        "AWS::Lambda::EventSourceMapping",
        "AWS::Events::Rule",
        "AWS::Scheduler::Schedule",
        "AWS::Pipes::Pipe",
        "AWS::Serverless::StateMachine",
        "AWS::Serverless::Application",
    }
)


class _DatabaseAttribute(TemplateError):
    """An attribute of the deployed database, which has no local counterpart: DATABASE_URL stands in for it."""


@dataclass(frozen=True)
class Template:
    """The wiring of one template; `import_roots` are the folders that the functions import from."""

    path: Path
    functions: Mapping[str, Function]
    queues: Mapping[str, Queue]
    topics: Mapping[str, Topic]
    buckets: Mapping[str, Bucket]
    subscriptions: tuple[Subscription, ...]
    event_sources: tuple[EventSource, ...]
    schedules: tuple[Schedule, ...]
    routes: tuple[ApiRoute, ...]
    on_deploy: tuple[str, ...]
    import_roots: tuple[Path, ...]
    parameters: Mapping[str, Any]
    database_resources: frozenset[str]

    @classmethod
    def load(cls, path: Path) -> Template:
        """Read a template; raises TemplateError naming what is not understood."""
        return _Reader(path).read()

    def queue_arn(self, queue: str) -> str:
        """The ARN of a queue, given by its logical id."""
        return f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{self._known(self.queues, queue).name}"

    def queue_url(self, queue: str, endpoint: str) -> str:
        """The URL of a queue at an endpoint such as http://127.0.0.1:5000."""
        return f"{endpoint}/{ACCOUNT_ID}/{self._known(self.queues, queue).name}"

    def topic_arn(self, topic: str) -> str:
        """The ARN of a topic, given by its logical id."""
        return f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:{self._known(self.topics, topic).name}"

    def function_arn(self, function: str) -> str:
        """The ARN of a function, given by its logical id."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{self._known(self.functions, function).name}"

    def durable_functions(self) -> tuple[str, ...]:
        """The logical ids of the functions that are durable."""
        return tuple(name for name, function in self.functions.items() if function.durable)

    def _aliases(self) -> dict[str, str]:
        """ARNs of the published aliases by what SAM calls them: !Ref ProduceFunction.Alias."""
        published = {name: function.alias for name, function in self.functions.items() if function.alias}
        return {f"{name}.Alias": f"{self.function_arn(name)}:{alias}" for name, alias in published.items()}

    def environment(self, function: str, endpoint: str) -> dict[str, str]:
        """The function's variables; those that tell where the deployed database is are left out."""

        def lookup(resource: str, attribute: str | None) -> str:
            return self._lookup(resource, attribute, endpoint)

        found: dict[str, str] = {}
        for name, value in self._known(self.functions, function).environment.items():
            try:
                found[name] = str(resolve(value, lookup))
            except _DatabaseAttribute:
                continue
            except TemplateError as exc:
                raise TemplateError(f"{function}: variable {name}: {exc}") from exc
        return found

    @staticmethod
    def _known(resources: Mapping[str, Any], logical_id: str) -> Any:
        if logical_id not in resources:
            raise TemplateError(f"{logical_id} is not among {', '.join(sorted(resources)) or 'the resources'}")
        return resources[logical_id]

    def _lookup(self, name: str, attribute: str | None, endpoint: str) -> str:
        if attribute is None and name in self.parameters:
            return str(self.parameters[name])
        if name in self.database_resources:
            raise _DatabaseAttribute(name)
        values = self._attributes(name, endpoint)
        if attribute not in values:
            raise TemplateError(f"the local stack does not know {name}{'.' + attribute if attribute else ''}")
        return values[attribute]

    def _attributes(self, name: str, endpoint: str) -> dict[str | None, str]:
        """What Ref (None) and GetAtt give for a resource that exists locally."""
        if name in self.queues:
            return {
                None: self.queue_url(name, endpoint),
                "QueueUrl": self.queue_url(name, endpoint),
                "Arn": self.queue_arn(name),
                "QueueName": self.queues[name].name,
            }
        if name in self.topics:
            arn = self.topic_arn(name)
            return {None: arn, "TopicArn": arn, "TopicName": self.topics[name].name}
        if name in self.buckets:
            return {None: self.buckets[name].name, "Arn": f"arn:aws:s3:::{self.buckets[name].name}"}
        if name in self.functions:
            return {None: self.functions[name].name, "Arn": self.function_arn(name)}
        return {None: alias} if (alias := self._aliases().get(name)) else {}


class _Reader:
    """One pass over one document."""

    def __init__(self, path: Path) -> None:
        self.path = path
        written = load_document(path)
        defaults = {name: spec.get("Default") for name, spec in (written.get("Parameters") or {}).items()}
        self.parameters = {name: value for name, value in defaults.items() if value is not None} | PSEUDO_PARAMETERS
        document = settled(written, self.parameters)
        self.resources: dict[str, dict[str, Any]] = document["Resources"]
        self.globals: dict[str, Any] = (document.get("Globals") or {}).get("Function") or {}

    def read(self) -> Template:
        for name, resource in self.resources.items():
            if resource.get("Type") in _UNIMITATED:
                raise TemplateError(f"{name}: the local stack does not imitate {resource['Type']}")
        events = list(self._events())
        template = Template(
            path=self.path,
            functions={name: sections.function(name, p, self.globals) for name, p in self._of("Serverless::Function")},
            queues={name: sections.queue(name, p) for name, p in self._of("SQS::Queue")},
            topics={name: sections.topic(name, p) for name, p in self._of("SNS::Topic")},
            buckets={name: sections.bucket(name, p) for name, p in self._of("S3::Bucket")},
            subscriptions=tuple(sections.subscription(name, p) for name, p in self._of("SNS::Subscription")),
            event_sources=tuple(event for event in events if isinstance(event, EventSource)),
            schedules=tuple(event for event in events if isinstance(event, Schedule)),
            routes=tuple(event for event in events if isinstance(event, ApiRoute)),
            on_deploy=tuple(target_of(p["ServiceToken"]) for p in self._custom_resources()),
            import_roots=tuple(self._import_roots()),
            parameters=self.parameters,
            database_resources=frozenset(name for name, _ in self._of("RDS::DBCluster")),
        )
        _check_references(template)
        return template

    def _of(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Logical id and properties of every resource of a type, parameters filled in where that is possible."""
        for name, resource in self.resources.items():
            if resource.get("Type") == f"AWS::{kind}":
                yield name, self._filled(resource.get("Properties") or {})

    def _filled(self, value: Any) -> Any:
        """Replace what rests on parameters alone; references to resources stay as they are."""
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and next(iter(value)) in ("Ref", "Fn::Sub"):
            try:
                return resolve(value, self._parameter)
            except TemplateError:
                return value
        return {key: self._filled(item) for key, item in value.items()}

    def _parameter(self, name: str, attribute: str | None) -> str:
        if attribute is None and name in self.parameters:
            return str(self.parameters[name])
        raise TemplateError(f"{name} is no parameter with a default")

    def _events(self) -> Iterator[EventSource | Schedule | ApiRoute]:
        apis = [name for name, _ in self._of("Serverless::HttpApi")]
        for name, properties in self._of("Serverless::Function"):
            for event_name, event in (properties.get("Events") or {}).items():
                if event.get("Type") == "HttpApi":
                    yield api_route(name, f"{name}.{event_name}", event.get("Properties") or {}, apis)
                elif (found := sections.event(name, event_name, event)) is not None:
                    yield found

    def _custom_resources(self) -> Iterator[dict[str, Any]]:
        for resource in self.resources.values():
            kind = str(resource.get("Type"))
            if kind == "AWS::CloudFormation::CustomResource" or kind.startswith("Custom::"):
                yield resource["Properties"]

    def _import_roots(self) -> Iterator[Path]:
        """The functions' code, then the layers' content, each folder once."""
        folders = [properties.get("CodeUri", self.globals.get("CodeUri")) for _, properties in self._functions()]
        folders += [properties.get("ContentUri") for _, properties in self._of("Serverless::LayerVersion")]
        for folder in dict.fromkeys(folders):
            if not isinstance(folder, str) or not (self.path.parent / folder).is_dir():
                raise TemplateError(f"CodeUri or ContentUri {folder!r} is no folder beside {self.path}")
            yield (self.path.parent / folder).resolve()

    def _functions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return self._of("Serverless::Function")


def _check_references(template: Template) -> None:
    """Every queue, topic and function that something points at exists."""
    queues = [source.queue for source in template.event_sources] + [s.queue for s in template.subscriptions]
    queues += [queue.redrive.dead_letter_queue for queue in template.queues.values() if queue.redrive]
    queues += [n.queue for bucket in template.buckets.values() for n in bucket.notifications]
    for queue in queues:
        template.queue_arn(queue)
    for subscription in template.subscriptions:
        template.topic_arn(subscription.topic)
    for function in template.on_deploy:
        template.function_arn(function)
    events: tuple[EventSource | Schedule | ApiRoute, ...] = (
        template.event_sources + template.schedules + template.routes
    )
    for function in {*template.on_deploy, *(event.function for event in events)} & {*template.durable_functions()}:
        raise TemplateError(f"{function}: the local stack starts executions by the Lambda API alone, not by events")
    keys = [route.key for route in template.routes]
    if len(keys) > len(set(keys)):
        raise TemplateError(f"two functions have one route: {', '.join(sorted(k for k in keys if keys.count(k) > 1))}")
