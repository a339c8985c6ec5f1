"""A server in a thread of this process, and a client that sends what it is told, byte for byte."""

import http.client
import json
import re
import socket
import threading
from contextlib import contextmanager, suppress

from rosenblatt.serve.server import Settings, make_server

MAIL = {"content-type": "message/rfc822"}


@contextmanager
def serving(folder, **settings):
    """Serve a folder; give a client."""
    ready, told = threading.Event(), []

    def tell(url):
        told.append(url)
        ready.set()

    server = make_server(Settings(folder, port=0, **{"log": "none", **settings}), tell)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert ready.wait(120)
        yield Client(told[0], server)
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


class Client:
    """Asks one server."""

    def __init__(self, url, server):
        self.url, self.server, self.service = url, server, server.service
        host, port = re.fullmatch(r"http://(.*):(\d+)", url).groups()
        self.address = host, int(port)

    def ask(self, method, path, body=None, headers=None, timeout=60):
        """Give the status, the content and the headers of an answer; JSON as objects."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("content-type", "application/json")
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if "json" in answer.headers.get("content-type", ""):
            content = json.loads(content)
        return answer.status, content, answer.headers

    def get(self, path, status=200, **headers):
        found, content, _ = self.ask("GET", path, None, headers)
        assert found == status, content
        return content

    def post(self, path, body, status=200, **headers):
        found, content, _ = self.ask("POST", path, body, headers)
        assert found == status, content
        return content

    def mail(self, path, message, status=200):
        found, content, _ = self.ask("POST", path, message, MAIL)
        assert found == status, content
        return content

    def send(self, data, timeout=10):
        """Send bytes; give all that comes back until the server closes."""
        with socket.create_connection(self.address, timeout=timeout) as connection:
            found = b""
            with suppress(ConnectionError):  # what it still sent was not read
                connection.sendall(data)
                while piece := connection.recv(1 << 16):
                    found += piece
        return found
