"""The certificate authorities that `make build` puts into the layer."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.support.servers.tls_server import Authority
from tools.rds_authorities import AuthoritiesError, check_bundle, main


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Two authorities of Amazon RDS."""
    names = ("Amazon RDS us-east-1 Root CA RSA2048 G1", "Amazon RDS eu-central-1 Root CA ECC384 G1")
    path = tmp_path / "bundle.pem"
    path.write_text("".join(Authority(tmp_path, name).file.read_text() for name in names))
    return path


def test_a_copy_is_put_into_the_layer_and_kept(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "rds-authorities.pem"
    assert main([str(bundle)], layer) == 0
    assert "2 certificate authorities" in capsys.readouterr().out
    bundle.unlink()
    assert main(["download"], layer) == 0, "what is there is not downloaded again"
    assert check_bundle(layer.read_text()) == 2


def test_what_the_layer_has_is_refused_once_it_is_old(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "rds-authorities.pem"
    main([str(bundle)], layer)
    written = layer.stat().st_mtime
    for days, status in ((89, 0), (89, 0), (92, 1)):
        os.utime(layer, (written, written - days * 86_400))
        assert main(["download"], layer) == status
        assert layer.stat().st_mtime < written, "a build does not make it younger"
    said = capsys.readouterr()
    assert hashlib.sha256(bundle.read_bytes()).hexdigest() in said.out
    assert "92 days old. Delete it" in said.err


def test_what_the_layer_has_is_checked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = tmp_path / "rds-authorities.pem"
    layer.write_text(Authority(tmp_path, "Another Root CA").file.read_text())
    assert main(["download"], layer) == 1
    assert "not of Amazon RDS: Another Root CA" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Another Root CA", "Not Amazon RDS Root CA"])
def test_a_foreign_authority_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    mixed = bundle.read_text() + Authority(tmp_path, name).file.read_text()
    with pytest.raises(AuthoritiesError, match=name):
        check_bundle(mixed)


@pytest.mark.parametrize(
    "text", ["", "<html>403</html>", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_what_is_no_bundle_is_refused_and_the_layer_unchanged(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.pem").write_text(text)
    assert main([str(tmp_path / "given.pem")], tmp_path / "layer.pem") == 1
    assert "make build RDS_AUTHORITIES=<file>" in capsys.readouterr().err
    assert not (tmp_path / "layer.pem").exists()


def test_a_build_without_them_says_that_it_is_not_for_deployment(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "layer.pem"
    main([str(bundle)], layer)
    assert main(["none"], layer) == 0
    assert (layer.exists(), "do not deploy this" in capsys.readouterr().out) == (False, True)
