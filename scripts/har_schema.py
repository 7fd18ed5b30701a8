"""Validates the archives named on the command line against the schemas in the folder named first; see har-schema."""
import json
import pathlib
import sys

from jsonschema import Draft6Validator, FormatChecker
from referencing import Registry, Resource

schemas = {path.name + "#": json.loads(path.read_text("utf-8")) for path in pathlib.Path(sys.argv[1]).glob("*.json")}
registry = Registry().with_resources((name, Resource.from_contents(schema)) for name, schema in schemas.items())
registry = registry.with_resources(
    (name.removesuffix("#"), Resource.from_contents(schema)) for name, schema in schemas.items()
)
formats = FormatChecker()
for needed in ["date-time", "ipv4", "ipv6", "uri"]:
    if needed not in formats.checkers:
        sys.exit(f"har-schema: nothing checks the format {needed}")
validator = Draft6Validator(schemas["har.json#"], registry=registry, format_checker=formats)


def faults(name):
    try:
        archive = json.loads(pathlib.Path(name).read_text("utf-8"))
    except (OSError, ValueError) as error:
        return [str(error)]
    found = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(archive)]
    if not found and archive["log"]["version"] != "1.2":
        found.append(f"$.log.version: {archive['log']['version']!r} is not '1.2'")
    return found


failed = 0
for name in sys.argv[2:]:
    found = faults(name)
    failed += bool(found)
    print(f"{'FAILED' if found else 'passed'} {name}")
    for fault in found:
        print(f"  {fault[:500]}")
print(f"{len(sys.argv) - 2 - failed} passed, {failed} failed")
sys.exit(failed > 0 or len(sys.argv) == 2)
