"""What the tests of rows on their way share."""

import socket
import subprocess
import threading

import numpy as np

import windhover


def connect(server, **options):
    return windhover.connect(server.observe, query=server.query, **options)


def total_of(totals):
    return totals.accepted + totals.refused + totals.duplicate + totals.unknown


def exported(windhover_command, folder, path):
    """The rows of a data folder, by their producer's sequence numbers."""
    with open(path, "w") as out:
        subprocess.run(
            [windhover_command, "log", "export", str(folder)],
            stdout=out,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return np.genfromtxt(path, delimiter=",", names=True)


class Cutter:
    """Between client and server: passes so many bytes on in each direction, then cuts. The limits of a
    connection that ends by itself, as of a client that waits no longer, are those of a later one.
    """

    def __init__(self, target, limits):
        self._target, self._limits = target, list(limits)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        self._lock = threading.Lock()
        self._sockets = [self._listener]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            unix = isinstance(self._target, str)
            server = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
            self._sockets += [client, server]
            server.connect(self._target)
            limit = self._limits.pop(0) if self._limits else None
            to_server, to_client = limit or (None, None)
            connection = {"limits": limit, "cut": False, "ways": 2}
            for way in ((client, server, to_server), (server, client, to_client)):
                threading.Thread(target=self._pass, args=(*way, connection), daemon=True).start()

    def _ended(self, connection, cut):
        with self._lock:
            self.cuts += cut and not connection["cut"]
            connection["cut"] |= cut
            connection["ways"] -= 1
            limited = any(connection["limits"] or ())
            if connection["ways"] == 0 and not connection["cut"] and limited:
                self._limits.append(connection["limits"])

    def _pass(self, source, sink, limit, connection):
        cut = False
        try:
            while limit is None or limit > 0:
                data = source.recv(65536 if limit is None else min(65536, limit))
                if not data:
                    break
                sink.sendall(data)
                limit = limit and limit - len(data)
            else:
                cut = True
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._ended(connection, cut)

    def close(self):
        for one in self._sockets:
            one.close()
