"""Follows the events of a project, and resumes where it was. Python 3.9 or newer, without packages.

  SK=prj_test_sk_… python3 examples/follow_events.py

FENCELINE is the address of the server. POSITION_FILE keeps the position between two runs.
"""
import json
import os
import time
import urllib.error
import urllib.request

address = os.environ.get('FENCELINE', 'http://127.0.0.1:8080')
position_file = os.environ.get('POSITION_FILE', 'position.txt')


def stored_position():
    try:
        with open(position_file, encoding='utf-8') as file:
            return file.read().strip()
    except FileNotFoundError:
        return ''


def store(position):
    """Replaces the file at once, so that a crash leaves the old position or the new one."""
    with open(f'{position_file}.new', 'w', encoding='utf-8') as file:
        file.write(position)
    os.replace(f'{position_file}.new', position_file)


def messages(position):
    """Yields the fields of each message, until the connection ends."""
    start = '' if position else '?from=earliest'
    headers = {'Authorization': os.environ['SK'], **({'Last-Event-ID': position} if position else {})}
    request = urllib.request.Request(f'{address}/v1/events/stream{start}', headers=headers)
    # The server sends a heartbeat after 15 seconds. A connection without one is lost.
    with urllib.request.urlopen(request, timeout=40) as response:
        fields = {}
        for line in response:
            name, separator, value = line.decode().rstrip('\n').partition(': ')
            if separator:
                fields[name] = value
            elif fields:
                yield fields
                fields = {}


position = stored_position()
while True:
    try:
        for message in messages(position):
            if 'data' in message:
                event = json.loads(message['data'])
                print('event', event.get('type', 'gap'), event.get('_id', ''), flush=True)
            if 'id' in message:
                position = message['id']
                store(position)
    except urllib.error.HTTPError as error:
        if error.code not in (429, 500, 502, 503, 504):
            raise SystemExit(error.read().decode())
    except OSError:
        pass  # The connection was lost.
    time.sleep(1)
