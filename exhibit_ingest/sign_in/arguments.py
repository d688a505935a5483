"""The arguments and help texts of `exhibit-ingest login`, `logout`, `whoami` and `stacks`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exhibit_ingest.stacks.choice import add_stack_argument

SIGN_IN_COMMANDS = ("login", "logout", "whoami", "stacks")

LOGIN = """\
Signs in to a stack, one deployment of the application, and adds it to `stacks`. URL is the address of its console or
API; its operator has it. The stack says how its users sign in: in the browser, which then comes back to this command,
or with a code that you enter on any device. For the stack of `serve` on this machine, URL is its address; the command
then asks for the link that `serve` printed. The sign-in is kept in the keyring of this machine, else in a file that
only you can read. No password is kept."""
LOGIN_EPILOG = """\
examples:
  exhibit-ingest login https://evidence.example.com --name firm
      sign in with the browser; the first stack is the default
  exhibit-ingest login https://evidence.example.com --no-browser
      over SSH: print the address of the page, and read the code that the browser gets
  exhibit-ingest login http://127.0.0.1:8700
      sign in to `exhibit-ingest serve` of this machine: paste the link that it printed when the command asks for it;
      the link as URL, in quotes, works too, but stays in the history of the shell
  exhibit-ingest login https://evidence.example.com --token-command "vault read -field=token secret/evidence"
      for scripts: a command that prints a token, which is run when one is needed

In a script, EXHIBIT_INGEST_STACK with a URL and EXHIBIT_INGEST_TOKEN with a token need no login. EXHIBIT_INGEST_TOKEN
counts before every sign-in. Behind a proxy, set HTTPS_PROXY; for the root certificate of a network, SSL_CERT_FILE.

exit status: 0 signed in; 1 the sign-in failed or was refused; 2 wrong usage"""

LOGOUT = """\
Ends the sign-in to a stack: its issuer is to accept it no longer, and it is deleted on this machine. The stack stays in
the list of `stacks`. A token that was issued before is valid until its end, an hour at most at Cognito."""
LOGOUT_EPILOG = """\
exit status: 0 signed out; 1 deleted here, but its issuer did not confirm it; 2 wrong usage"""

WHOAMI = """\
Shows who you are to a stack, as its API says: user, tenant, role, the cases that you may see, and the limits of
requests."""
WHOAMI_EPILOG = """\
--json prints {"stack", "url", "me" (the response to GET /me)}, or {"error"}.

exit status: 0 success; 1 not signed in, or the stack does not answer; 2 wrong usage, or there is no such stack"""

STACKS = """\
Lists the stacks that were signed in to; the default has a star. Commands use the stack of --stack, else of
EXHIBIT_INGEST_STACK, else the default."""
STACKS_EPILOG = """\
examples:
  exhibit-ingest stacks --default firm
      use the stack `firm` where nothing else is chosen
  exhibit-ingest stacks --remove old
      sign out of the stack `old`, and remove it from the list

--json prints {"default", "stacks": [{"name", "url", "sign_in" (cognito, issuer, local or token-command),
"signed_in"}]}, or {"error"}.

exit status: 0 success; 1 removed here, but the issuer did not end the sign-in; 2 wrong usage, or no such stack"""


def add_sign_in_arguments(add: Callable[[str, str, str, str], argparse.ArgumentParser]) -> None:
    """Add the commands with `add`, which takes a name, a summary, a description and an epilog."""
    login = add("login", "sign in to a stack", LOGIN, LOGIN_EPILOG)
    login.add_argument("url", metavar="URL", help="address of the API or of the console, or the link of `serve`")
    login.add_argument("--name", metavar="NAME", help="name of the stack in --stack and `stacks` (default: its host)")
    how = login.add_mutually_exclusive_group()
    how.add_argument("--no-browser", action="store_true", help="print the address of the page, and read the code")
    how.add_argument("--token-command", metavar="COMMAND", help="command that prints a token; there is no sign-in then")
    logout = add("logout", "sign out of a stack", LOGOUT, LOGOUT_EPILOG)
    add_stack_argument(logout)
    whoami = add("whoami", "show who you are to a stack", WHOAMI, WHOAMI_EPILOG)
    add_stack_argument(whoami)
    stacks = add("stacks", "list the stacks, or choose the default", STACKS, STACKS_EPILOG)
    change = stacks.add_mutually_exclusive_group()
    change.add_argument("--default", metavar="NAME", help="make this stack the default")
    change.add_argument("--remove", metavar="NAME", help="sign out of this stack, and remove it from the list")
    for each in (whoami, stacks):
        each.add_argument("--json", action="store_true", help="print one JSON object, also for an error")
