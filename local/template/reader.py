"""Read template.yaml, the single source of the wiring, locally as in AWS.

Guaranteed: no property, event or resource that changes the flow of messages or requests is skipped. One that the local
stack does not support raises TemplateError. Networks, permissions, encryption and alarms are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.errors import TemplateError
from local.template import resources
from local.template.account import ACCOUNT_ID, REGION
from local.template.conditions import apply_conditions
from local.template.intrinsics import get_referenced_id, load_document, resolve
from local.template.model import ApiRoute, Bucket, EventSource, Function, Queue, Schedule, Subscription, Topic
from local.template.routes import parse_api_route

PSEUDO_PARAMETERS = {
    "AWS::AccountId": ACCOUNT_ID,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::StackName": "exhibit-ingest-local",
    "AWS::URLSuffix": "amazonaws.com",
}
# What a deployment asks for, because the parameter has no default.
_ANSWERS = {"AlarmEmail": "none"}
# What differs here: pages of the local API, whose port is chosen when it starts, are those of the console, and tokens
# come from this program instead of a user pool.
_LOCAL = {"ConsoleOrigin": "http://127.0.0.1:*", "JwtIssuer": "https://exhibit-ingest.localhost"}

_UNSUPPORTED = frozenset(
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
    """An attribute of the deployed database; locally DATABASE_URL replaces it."""


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
        """Return a template; raise TemplateError with the name of what is not supported."""
        return _Reader(path).read()

    def uses(self, variable: str) -> bool:
        """Return whether a function has the variable."""
        return any(variable in function.environment for function in self.functions.values())

    def list_functions(self, handlers: Sequence[str]) -> list[str]:
        """Return the functions whose handlers are in these modules, in their order."""
        found = {function.handler.partition(".")[0]: name for name, function in self.functions.items()}
        return [found[handler] for handler in handlers if handler in found]

    def queue_arn(self, queue: str) -> str:
        """Return the ARN of a queue by its logical id."""
        return f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{self._get(self.queues, queue).name}"

    def queue_url(self, queue: str, endpoint: str) -> str:
        """Return the URL of a queue by its logical id, at an endpoint such as http://127.0.0.1:5000."""
        return f"{endpoint}/{ACCOUNT_ID}/{self._get(self.queues, queue).name}"

    def topic_arn(self, topic: str) -> str:
        """Return the ARN of a topic by its logical id."""
        return f"arn:aws:sns:{REGION}:{ACCOUNT_ID}:{self._get(self.topics, topic).name}"

    def function_arn(self, function: str) -> str:
        """Return the ARN of a function by its logical id."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{self._get(self.functions, function).name}"

    def durable_functions(self) -> tuple[str, ...]:
        """Return the logical ids of the durable functions."""
        return tuple(name for name, function in self.functions.items() if function.durable)

    def _aliases(self) -> dict[str, str]:
        """Return the ARNs of the published aliases by SAM's names for them, as in !Ref ProduceFunction.Alias."""
        published = {name: function.alias for name, function in self.functions.items() if function.alias}
        return {f"{name}.Alias": f"{self.function_arn(name)}:{alias}" for name, alias in published.items()}

    def environment(self, function: str, endpoint: str) -> dict[str, str]:
        """Return a function's environment variables, without those that refer to the deployed database.

        Raises TemplateError for a variable that cannot be resolved.
        """

        def lookup(resource: str, attribute: str | None) -> str:
            return self._look_up(resource, attribute, endpoint)

        variables: dict[str, str] = {}
        for name, value in self._get(self.functions, function).environment.items():
            try:
                variables[name] = str(resolve(value, lookup))
            except _DatabaseAttribute:
                continue
            except TemplateError as exc:
                raise TemplateError(f"{function}: variable {name}: {exc}") from exc
        return variables

    @staticmethod
    def _get(resources: Mapping[str, Any], logical_id: str) -> Any:
        if logical_id not in resources:
            raise TemplateError(f"{logical_id} is not among {', '.join(sorted(resources)) or 'the resources'}")
        return resources[logical_id]

    def _look_up(self, name: str, attribute: str | None, endpoint: str) -> str:
        if attribute is None and name in self.parameters:
            return str(self.parameters[name])
        if name in self.database_resources:
            raise _DatabaseAttribute(name)
        values = self._attributes(name, endpoint)
        if attribute not in values:
            raise TemplateError(f"the local stack does not know {name}{'.' + attribute if attribute else ''}")
        return values[attribute]

    def _attributes(self, name: str, endpoint: str) -> dict[str | None, str]:
        """Return what Ref (key None) and GetAtt resolve to for a resource that exists locally."""
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


def _is_of_aws(resource: Mapping[str, Any]) -> bool:
    """Return whether this is a rule for events of AWS services, which do not occur here."""
    sources = ((resource.get("Properties") or {}).get("EventPattern") or {}).get("source") or [""]
    return all(str(source).startswith("aws.") for source in sources)


class _Reader:
    """One pass over one document."""

    def __init__(self, path: Path) -> None:
        self.path = path
        source = load_document(path)
        declared = source.get("Parameters") or {}
        defaults = {name: spec.get("Default", _ANSWERS.get(name)) for name, spec in declared.items()}
        defaults |= {name: value for name, value in _LOCAL.items() if name in declared}
        self.parameters = {name: value for name, value in defaults.items() if value is not None} | PSEUDO_PARAMETERS
        document = apply_conditions(source, self.parameters)
        self.resources: dict[str, dict[str, Any]] = document["Resources"]
        self.globals: dict[str, Any] = (document.get("Globals") or {}).get("Function") or {}

    def read(self) -> Template:
        for name, resource in self.resources.items():
            if resource.get("Type") in _UNSUPPORTED and not _is_of_aws(resource):
                raise TemplateError(f"{name}: the local stack does not support {resource['Type']}")
        events = list(self._events())
        template = Template(
            path=self.path,
            functions={
                name: resources.parse_function(name, p, self.globals) for name, p in self._of("Serverless::Function")
            },
            queues={name: resources.parse_queue(name, p) for name, p in self._of("SQS::Queue")},
            topics={name: resources.parse_topic(name, p) for name, p in self._of("SNS::Topic")},
            buckets={name: resources.parse_bucket(name, p) for name, p in self._of("S3::Bucket")},
            subscriptions=tuple(resources.parse_subscription(name, p) for name, p in self._of("SNS::Subscription")),
            event_sources=tuple(event for event in events if isinstance(event, EventSource)),
            schedules=tuple(event for event in events if isinstance(event, Schedule)),
            routes=tuple(event for event in events if isinstance(event, ApiRoute)),
            on_deploy=tuple(get_referenced_id(p["ServiceToken"]) for p in self._custom_resources()),
            import_roots=tuple(self._import_roots()),
            parameters=self.parameters,
            database_resources=frozenset(
                name for kind in ("RDS::DBCluster", "SecretsManager::Secret") for name, _ in self._of(kind)
            ),
        )
        _check_references(template)
        return template

    def _of(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the logical id and properties of every resource of a type, with parameters resolved where possible."""
        for name, resource in self.resources.items():
            if resource.get("Type") == f"AWS::{kind}":
                yield name, self._resolve_parameters(resource.get("Properties") or {})

    def _resolve_parameters(self, value: Any) -> Any:
        """Replace values that depend on parameters only; keep references to resources."""
        if isinstance(value, list):
            return [self._resolve_parameters(item) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and next(iter(value)) in ("Ref", "Fn::Sub"):
            try:
                return resolve(value, self._look_up_parameter)
            except TemplateError:
                return value
        return {key: self._resolve_parameters(item) for key, item in value.items()}

    def _look_up_parameter(self, name: str, attribute: str | None) -> str:
        if attribute is None and name in self.parameters:
            return str(self.parameters[name])
        raise TemplateError(f"{name} is not a parameter with a default value")

    def _events(self) -> Iterator[EventSource | Schedule | ApiRoute]:
        apis = [name for name, _ in self._of("Serverless::HttpApi")]
        for name, properties in self._functions():
            for event_name, event in (properties.get("Events") or {}).items():
                if event.get("Type") == "HttpApi":
                    yield parse_api_route(name, f"{name}.{event_name}", event.get("Properties") or {}, apis)
                elif (found := resources.parse_event(name, event_name, event)) is not None:
                    yield found

    def _custom_resources(self) -> Iterator[dict[str, Any]]:
        for resource in self.resources.values():
            kind = str(resource.get("Type"))
            if kind == "AWS::CloudFormation::CustomResource" or kind.startswith("Custom::"):
                yield resource["Properties"]

    def _import_roots(self) -> Iterator[Path]:
        """Yield the folders of the functions' code, then those of the layers' content, each once."""
        folders = [properties.get("CodeUri", self.globals.get("CodeUri")) for _, properties in self._functions()]
        folders += [properties.get("ContentUri") for _, properties in self._of("Serverless::LayerVersion")]
        for folder in dict.fromkeys(folders):
            if not isinstance(folder, str) or not (self.path.parent / folder).is_dir():
                raise TemplateError(f"CodeUri or ContentUri {folder!r} is not a folder next to {self.path}")
            yield (self.path.parent / folder).resolve()

    def _functions(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return self._of("Serverless::Function")


def _check_references(template: Template) -> None:
    """Raise TemplateError for a reference to a missing resource, or for two functions on one route."""
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
        raise TemplateError(
            f"{function}: the local stack starts durable executions through the Lambda API only, not from events"
        )
    _refuse_equal_routes(template)


def _refuse_equal_routes(template: Template) -> None:
    keys = [route.key for route in template.routes]
    if len(keys) > len(set(keys)):
        raise TemplateError(
            f"two functions have the same route: {', '.join(sorted(k for k in keys if keys.count(k) > 1))}"
        )
