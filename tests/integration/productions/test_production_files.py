"""Files of a volume: the sources' bytes, found where load files say, or all that are missing named at once."""

from __future__ import annotations

from shell.aws import clients
from tests.support.cases import get_or_create_case, put_exhibits
from tests.support.productions import ask, execute, objects_of, put_documents, put_file, status_of
from tests.support.world import World
from tests.support.written import dat_of, exhibit, written


def test_files_are_the_sources_byte_for_byte_under_the_names_that_the_dat_gives(world: World) -> None:
    bodies = {"A": b"", "B": bytes(range(256)) * 400, "C": b"\r\n\xfe\x14"}
    for number, body in bodies.items():
        exhibit(world, number, native_path=rf".\NATIVE\{number}.XLSX", text_path=f"TEXT/{number}.txt")
        for path in (f"NATIVE/{number}.XLSX", f"TEXT/{number}.txt"):
            key = f"files/tenant/Case/{path}"
            clients.s3().put_object(Bucket=world.bucket, Key=key, Body=body, Tagging="secret=1", ContentType="a/b")
    production = written()
    objects = objects_of(world, production)
    for record, body in zip(dat_of(world, production), bodies.values(), strict=True):
        assert record["Native Link"] == rf"VOL001\NATIVES\0001\{record['Begin Bates']}.xlsx"
        for link in ("Native Link", "Text Link"):
            assert objects.pop(record[link].replace("\\", "/")) == body
            key = f"productions/{production}/" + record[link].replace("\\", "/")
            assert clients.s3().get_object_tagging(Bucket=world.bucket, Key=key)["TagSet"] == []
    assert set(objects) == {"VOL001/DATA/VOL001.dat"}


PATHS = {
    r".\A\b.doc": "A/b.doc",
    r"\\server\share\x": "server/share/x",
    r"C:\x.DOC": "x.DOC",
    "/x.d": "x.d",
    "a//b.msg": "a/b.msg",
    "Ünï/文 件.eml": "Ünï/文 件.eml",
    " a b .pdf  ": "a b .pdf",
    "x.tar.gz": "x.tar.gz",
    "weird.d-c": "weird.d-c",
}


def test_paths_of_load_files_are_found(world: World) -> None:
    for number, (path, key) in enumerate(PATHS.items()):
        exhibit(world, f"{number}", native_path=path)
        put_file(world, key, key)
    exhibit(world, "blank", native_path="  ", text_path="\t", properties={"TIFFPATH": " "})
    objects = objects_of(world, production := written())
    *records, blank = dat_of(world, production)
    links = [record["Native Link"] for record in records]
    assert [objects[link.replace("\\", "/")].decode() for link in links] == list(PATHS.values())
    ends = [link.rpartition("\\")[2][len("ACME0000001") :] for link in links]
    assert ends == [".doc", "", ".doc", ".d", ".msg", ".eml", ".pdf", ".gz", ""]
    assert (blank["Native Link"], blank["Text Link"]) == ("", "")


def test_a_path_that_leads_out_is_a_file_that_is_missing(world: World) -> None:
    put_file(world, "x", "of another case", case="Other")
    exhibit(world, "A", native_path=r"..\Other\x")
    production = ask()
    execute(production)
    [(reason,)] = world.query("SELECT reason FROM productions WHERE id = :p", p=production)
    assert status_of(world, production) == "cancelled"
    assert "1 with a path that leads out of the case's files" in reason
    assert objects_of(world, production) == {}


def test_all_missing_files_are_said_at_once(world: World) -> None:
    put_documents(world, ["THERE"])
    for number in range(21):
        exhibit(world, f"M-{number:02}", native_path=f"m/{number}.doc", text_path=f"m/{number}.txt")
    production = ask()
    execute(production)
    [(reason,)] = world.query("SELECT reason FROM productions WHERE id = :p", p=production)
    ids = [row.id for row in world.query("SELECT id FROM exhibits WHERE control_number LIKE 'M-%' ORDER BY id")]
    named = ", ".join(map(str, ids[:20]))
    assert reason == f"files of exhibits {named} and 1 more cannot be copied: 42 not in the bucket"


def test_two_productions_share_a_volume_and_no_object(world: World) -> None:
    put_documents(world, ["A"])
    first, second = written(), written()
    names = [set(objects_of(world, each)) - {"VOL001/DATA/VOL001.dat"} for each in (first, second)]
    assert [len(each) for each in names] == [2, 2]
    assert not names[0] & names[1]


def test_a_folder_has_five_hundred_documents(world: World) -> None:
    case_id, documents = get_or_create_case(world, "Case", "tenant"), 1_001
    numbers = [f"D{number:04}" for number in range(documents)]
    edges = [0, 499, 500, 999, 1_000]
    put_exhibits(world, case_id, [numbers[place] for place in edges], native_path="same.doc")
    put_exhibits(world, case_id, [number for place, number in enumerate(numbers) if place not in edges])
    put_file(world, "same.doc", "the same")
    production = written()
    natives = sorted(name for name in objects_of(world, production) if "NATIVES" in name)
    assert natives == [f"VOL001/NATIVES/{place // 500 + 1:04}/ACME{place + 1:07}.doc" for place in edges]
    records = dat_of(world, production)
    assert [record["Begin Bates"] for record in records] == [f"ACME{n + 1:07}" for n in range(documents)]
    links = [record["Native Link"].replace("\\", "/") for record in records if record["Native Link"]]
    assert links == natives
