"""The bucket's name: one everywhere, unique in the world, and no longer than S3 allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from boto3.session import Session

from shell.aws.presigned_urls import UPLOAD_HEADERS, build_checksum_headers
from tests.unit.template.conftest import Deployed
from tools.stack_names import LONGEST_STACK_NAME, explain_stack_name

NAME = "${AWS::StackName}-${AWS::AccountId}-${AWS::Region}-evidence"
API = "${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"
PARTITIONS = ("aws", "aws-us-gov", "aws-cn")


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(item)


def test_every_reference_to_a_bucket_is_to_this_one(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    assert bucket["BucketName"] == {"Fn::Sub": NAME}
    named = [re.sub(r"^(arn:\$\{AWS::Partition\}:s3:::|https://)|-evidence.*", "", each) for each in named_in(deployed)]
    assert len(named) > 20
    assert {*named} == {NAME.removesuffix("-evidence")}


def named_in(deployed: Deployed) -> list[str]:
    return [text for each in deployed.resources.values() for text in texts(each) if "-evidence" in text]


def test_the_longest_stack_name_fits_into_a_buckets_in_the_longest_region() -> None:
    regions = {region for each in PARTITIONS for region in Session().get_available_regions("lambda", each)}
    name = NAME.replace("${AWS::StackName}", "s" * LONGEST_STACK_NAME).replace("${AWS::AccountId}", "1" * 12)
    assert len(name.replace("${AWS::Region}", max(regions, key=len))) <= 63


def test_a_role_whose_name_cloudformation_cuts_begins_with_the_longest_stack_name() -> None:
    """Of 64 characters, 13 are random with their hyphen; the stack's name and the logical id share the others."""
    assert LONGEST_STACK_NAME <= (64 - 13 - 1) // 2


@pytest.mark.parametrize("name", ["exhibit-ingest", "exhibit-ingest-staging", "a" * LONGEST_STACK_NAME, "x1-2"])
def test_a_name_that_fits_is_accepted(name: str) -> None:
    assert explain_stack_name(name) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * (LONGEST_STACK_NAME + 1), "has 26 characters; it can have 25"),
        ("Exhibits", "lower-case"),
        ("a--b", "single hyphens"),
        ("a-", "single hyphens"),
        ("1a", "lower-case letters"),
    ],
)
def test_a_name_that_the_bucket_or_the_proxy_would_refuse_is_refused(name: str, said: str) -> None:
    assert said in str(explain_stack_name(name))


def test_pages_of_one_origin_may_use_presigned_urls(deployed: Deployed) -> None:
    (bucket,) = deployed.of_type("AWS::S3::Bucket").values()
    (rule,) = bucket["CorsConfiguration"]["CorsRules"]
    chosen = {"Fn::If": ["HasConsoleOrigin", {"Ref": "ConsoleOrigin"}, {"Fn::Sub": f"https://{API}"}]}
    given = rule["AllowedOrigins"][0]
    assert given in (chosen, chosen["Fn::If"][2], chosen["Fn::If"][1])
    assert rule["AllowedMethods"] == ["GET", "HEAD", "PUT", "POST"]
    assert {"content-type", *(name.lower() for name in UPLOAD_HEADERS)} <= {*rule["AllowedHeaders"]}
    assert {*build_checksum_headers(b"")} <= {*rule["AllowedHeaders"]} & {*rule["ExposedHeaders"]}
    assert {"ETag", "Content-Range"} <= {*rule["ExposedHeaders"]}


@pytest.mark.parametrize(
    ("origin", "fits"),
    [
        *(("", True), ("https://evidence.example.com", True), ("https://a.b:8443", True), ("*", False)),
        *(("http://a.b", False), ("https://a.b/", False), ("https://*.b", False), ("null", False)),
    ],
)
def test_an_origin_has_no_wildcard_and_no_path(transformed: Any, origin: str, fits: bool) -> None:
    assert bool(re.fullmatch(transformed["Parameters"]["ConsoleOrigin"]["AllowedPattern"], origin)) == fits
