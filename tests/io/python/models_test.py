"""The client against a server of several models, and of identities."""

import pytest

import windhover


def connect(daemon, **options):
    return windhover.connect(daemon.observe, query=daemon.query, **options)


@pytest.fixture
def two_models(daemon, tmp_path):
    (tmp_path / "price.toml").write_text("[model]\nfeatures = 3\n")
    (tmp_path / "clicks.toml").write_text('[model]\nfeatures = 2\nname = "logistic"\n')
    config = tmp_path / "server.toml"
    config.write_text('[models]\nprice = "price.toml"\nclicks = "clicks.toml"\n')

    def start(**options):
        from windhover.daemon import Daemon

        named = {name.replace("__", "."): value for name, value in options.items()}
        return Daemon({"config": config, **named})

    started = []
    yield lambda **options: started.append(start(**options)) or started[-1]
    for one in started:
        one.stop()


def test_models_are_told_apart_by_name(windhoverd, two_models, rows):
    server = two_models()
    X, y = rows(100)
    with connect(server) as price, connect(server, model="clicks") as clicks:
        assert (price.model, price.features) == ("price", 3)
        assert (clicks.model, clicks.features, clicks.kind) == ("clicks", 2, "logistic")
        price.observe(X, y)
        clicks.observe(X[:50, :2], y[:50] > 0)
        assert price.wait().accepted == 100 and clicks.wait().accepted == 50
        assert {one.name: one.head for one in clicks.models()} == {"price": 100, "clicks": 50}
    with pytest.raises(windhover.UnknownModel, match="it has 2 models"):
        connect(server, model="weather")


def test_tokens_say_who_may_do_what(daemon, tmp_path, rows):
    import hashlib

    identities = tmp_path / "identities"
    lines = []
    for name, roles in (("feeder", "observe"), ("asker", "query")):
        digest = hashlib.sha256(f"token-of-{name}".encode()).hexdigest()
        lines.append(f"{name} {roles} * {digest}")
    identities.write_text("\n".join(lines) + "\n")
    identities.chmod(0o600)
    server = daemon(server__identities_file=identities)
    X, y = rows(50)
    with connect(server, token="token-of-feeder") as feeder:
        feeder.observe(X, y)
        assert feeder.wait().accepted == 50
        with pytest.raises(windhover.NotPermitted, match="has not the role query"):
            feeder.predict(X)
        feeder.status()
    with connect(server, token="token-of-asker") as asker:
        assert len(asker.predict(X)) == 50
        with pytest.raises(PermissionError, match="has not the role observe"):
            asker.observe(X, y)
            asker.wait()
        with pytest.raises(windhover.NotPermitted, match="has not the role admin"):
            asker.pause()
    with pytest.raises(windhover.NotPermitted, match="knows no identity"):
        connect(server, token="somebody-else")
    with pytest.raises(windhover.InvalidInput, match="ASCII"):
        connect(server, token="schlüssel")
