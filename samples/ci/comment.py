"""Write FILE as the comment on performance of a pull request (GitHub) or a merge request (GitLab).

    TOKEN=... python3 ci/comment.py FILE

The first line of the comment is a marker that readers do not see. The comment that begins with it is edited; without one
it is made. So a request has one such comment, however often it is pushed to. On GitHub, NUMBER is that of the request.
"""
import json
import os
import sys
import urllib.error
import urllib.request

MARKER = "<!-- tpa: performance -->\n"
MOST = 60000  # characters; GitHub takes 65,536
env = os.environ
if "GITHUB_REPOSITORY" in env:
    issues = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
    comments, comment, edit = f"{issues}/{env['NUMBER']}/comments", f"{issues}/comments", "PATCH"
    headers = {"Authorization": "Bearer " + env["TOKEN"], "Accept": "application/vnd.github+json"}
else:
    comments = (f"{env['CI_API_V4_URL']}/projects/{env['CI_MERGE_REQUEST_PROJECT_ID']}"
                f"/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes")
    comment, edit = comments, "PUT"
    headers = {"PRIVATE-TOKEN": env["TOKEN"]}


def call(method, url, body=None):
    data = None if body is None else json.dumps({"body": body}).encode()
    request = urllib.request.Request(url, data, {**headers, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def own_comment():
    """The number of the comment that begins with the marker, or None."""
    page = 1
    while some := call("GET", f"{comments}?per_page=100&page={page}"):
        for one in some:
            if (one["body"] or "").replace("\r\n", "\n").startswith(MARKER):
                return one["id"]
        page += 1
    return None


with open(sys.argv[1], encoding="utf-8") as file:
    text = MARKER + file.read()
if len(text) > MOST:
    text = text[:text.rindex("\n", 0, MOST)] + "\n\n(cut here; the job has the rest)\n"
try:
    own = own_comment()
    call("POST", comments, text) if own is None else call(edit, f"{comment}/{own}", text)
except urllib.error.URLError as error:
    sys.exit(f"cannot write the comment: {error}")
