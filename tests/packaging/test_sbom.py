"""The bill of materials names packages, not the machine on which it was written."""

from tests.packaging.sbom import without_places


def test_a_reference_stays_only_where_the_package_itself_names_its_home() -> None:
    home = {"comment": "from packaging metadata Project-URL: Homepage", "url": "https://numpy.org"}
    places = [
        {"comment": "from packaging metadata Project-URL: download", "url": "https://pypi.org/project/numpy/#files"},
        {"comment": "PackageSource: Local", "url": "file:///home/somebody/numpy"},
        {"comment": "PackageSource: Archive", "url": "https://packages.example/numpy.whl"},
        {"type": "distribution", "url": "https://pypi.org/project/cyclonedx-bom/"},
    ]
    bill = {"components": [{"name": "numpy", "externalReferences": [home, *places]}], "metadata": {"tools": places}}
    without_places(bill)
    assert bill["components"] == [{"name": "numpy", "externalReferences": [home]}]
