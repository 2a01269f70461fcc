"""The result file of a scan: JSON Lines that survive being killed at any byte.

Line 1 says what the results depend on (options, versions). Then one line a result, appended with one write each as
results arrive; a line cut short by a kill is dropped on reading and solved again. When a scan is complete the file is
replaced, in one rename, by the same results in the order of the units with a summary as last line, so that the final
file does not depend on who finished first or how often the scan was interrupted.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any, Dict, IO, List, Optional, Tuple

from .errors import PolyraceError

FORMAT = 1


class StoreError(PolyraceError):
    """The result file belongs to something else, or another scan is writing it."""


class Store:
    """Results by (unit name, key). Without a path they live in memory only."""

    def __init__(self, path: Optional[str], header: Dict[str, Any], restart: bool = False) -> None:
        self.path = path
        self.header = {"polyrace_scan": FORMAT, **header}
        self.results: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self.trouble: Optional[str] = None  #: why results are not being written
        self.dropped = 0
        self._file: Optional[IO[bytes]] = None
        if path is not None:
            self._open(path, restart)

    def _open(self, path: str, restart: bool) -> None:
        try:
            while self._file is None:
                f = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b", buffering=0)
                try:
                    fcntl.flock(f.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.path.samestat(os.fstat(f.fileno()), os.stat(path)):  # else: just replaced by another scan
                        self._file, f = f, None
                except BlockingIOError:
                    raise StoreError("%s: another scan is writing this result file" % path) from None
                except FileNotFoundError:
                    pass
                finally:
                    if f is not None:
                        f.close()
            keep = 0 if restart else self._load(path)
            self._file.truncate(keep)
            self._file.seek(keep)
            if not keep:
                self._write(self.header)
        except OSError as e:
            self.close()
            self._read_only(path, restart, e)
        except StoreError:
            self.close()
            raise

    def _read_only(self, path: str, restart: bool, e: OSError) -> None:
        self.trouble = "%s: %s" % (path, e.strerror)
        if not restart:
            try:
                self._load(path)
            except OSError:
                pass

    def _load(self, path: str) -> int:
        """Reads what an earlier scan left; returns the length of its complete lines, 0 for no file."""
        try:
            with open(path, "rb") as f:
                data = f.read()
        except FileNotFoundError:
            return 0
        end = data.rfind(b"\n") + 1
        lines = data[:end].split(b"\n")[:-1]
        if not lines:
            if data and not b'{"polyrace_scan"'.startswith(data[:16]):
                raise StoreError("%s: exists and is not a result file of a scan" % path)
            return 0
        try:
            header = json.loads(lines[0])
            if not isinstance(header, dict) or "polyrace_scan" not in header:
                raise ValueError
        except ValueError:
            raise StoreError("%s: exists and is not a result file of a scan" % path) from None
        for part in sorted(set(header) | set(self.header)):
            if header.get(part) != self.header.get(part):
                raise StoreError(
                    "%s: its results were made with another %s (%s, now %s); name another file, or --restart"
                    % (path, part, json.dumps(header.get(part)), json.dumps(self.header.get(part)))
                )
        keep = len(lines[0]) + 1
        for line in lines[1:]:
            try:
                entry = json.loads(line)
                if "unit" in entry:
                    self.results[(entry["unit"], entry["key"])] = entry
                elif "summary" in entry:
                    break  # written anew at the end
                else:
                    raise ValueError
            except (ValueError, KeyError, TypeError):
                self.dropped += 1
                break  # damaged from here on: the rest is decided again
            keep += len(line) + 1
        return keep

    def _write(self, entry: Dict[str, Any]) -> None:
        if self._file is None:
            return
        data = (json.dumps(entry, separators=(",", ":")) + "\n").encode()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as e:
            self.trouble = "%s: %s" % (self.path, e.strerror)
            self._file = None

    def add(self, entry: Dict[str, Any]) -> None:
        """Records one result, durable against a kill of this process when this returns."""
        self.results[(entry["unit"], entry["key"])] = entry
        self._write(entry)

    def finish(self, order: List[Tuple[str, str]], summary: Dict[str, Any]) -> None:
        """Replaces the file by its final form."""
        if self._file is None or self.path is None:
            return
        scratch = self.path + ".new"
        try:
            with open(scratch, "wb") as f:
                for entry in [self.header, *(self.results[k] for k in order), {"summary": summary}]:
                    f.write((json.dumps(entry, separators=(",", ":")) + "\n").encode())
                f.flush()
                os.fsync(f.fileno())
            os.replace(scratch, self.path)
        except OSError as e:
            self.trouble = "%s: %s" % (self.path, e.strerror)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_results(path: str) -> Tuple[Dict[str, Any], List[Dict[str, Any]], Optional[Dict[str, Any]]]:
    """(header, results, summary or None when the scan was not finished) of a result file."""
    header: Dict[str, Any] = {}
    results: List[Dict[str, Any]] = []
    summary = None
    with open(path, "r", encoding="utf-8", errors="replace") as f:
        for number, line in enumerate(f):
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if number == 0:
                if not isinstance(entry, dict) or "polyrace_scan" not in entry:
                    raise StoreError("%s: not a result file of a scan" % path)
                header = entry
            elif "summary" in entry:
                summary = entry["summary"]
            else:
                results.append(entry)
    return header, results, summary
