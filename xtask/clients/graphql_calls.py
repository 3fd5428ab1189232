"""Drives the GraphQL interface of a running Forgeway through the unmodified client of python-gitlab.

Reads FORGEWAY_URL and FORGEWAY_TOKEN; ends with the first step that fails.
"""

import gitlab
import gql

from smoke import TOKEN, URL

PATH = "root/smoke-graphql-python"
ISSUES = """
query ($path: ID!, $after: String) {
  project(fullPath: $path) {
    issues(first: 2, after: $after, sort: CREATED_ASC) {
      count
      nodes { iid title }
      pageInfo { endCursor hasNextPage }
    }
  }
}
"""
CREATE = """
mutation ($input: CreateIssueInput!) {
  createIssue(input: $input) { issue { iid title } errors clientMutationId }
}
"""


def who_calls(client):
    assert client.execute("{ currentUser { username } }") == {"currentUser": {"username": "root"}}


def a_wrong_token_is_told_apart():
    stranger = gitlab.GraphQL(URL, token="wrong")
    try:
        stranger.execute("{ currentUser { username } }")
    except gitlab.exceptions.GitlabAuthenticationError as error:
        assert error.response_code == 401
    # Newer releases of gql read the errors of the body before they look at the status.
    except gql.transport.exceptions.TransportQueryError as error:
        assert error.errors == [{"message": "Invalid token"}], error.errors
    else:
        raise AssertionError("a wrong token was taken")


def issues_are_made(client):
    for title in ["one", "two", "three"]:
        values = {"input": {"projectPath": PATH, "title": title, "clientMutationId": title}}
        made = client.execute(CREATE, variable_values=values)["createIssue"]
        assert made["errors"] == [] and made["issue"]["title"] == title, made
        assert made["clientMutationId"] == title, made
    values = {"input": {"projectPath": PATH, "title": ""}}
    assert client.execute(CREATE, variable_values=values)["createIssue"]["errors"], "a blank title was taken"


def issues_are_paged_through(client):
    found, values = [], {"path": PATH}
    while True:
        page = client.execute(ISSUES, variable_values=values)["project"]["issues"]
        assert page["count"] == 3, page
        found += [node["title"] for node in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        values["after"] = page["pageInfo"]["endCursor"]
    assert found == ["one", "two", "three"], found


def errors_reach_the_caller(client):
    try:
        client.execute("{ nothing }")
    except gql.transport.exceptions.TransportQueryError as error:
        assert error.errors[0]["extensions"]["code"] == "undefinedField", error.errors
        return
    raise AssertionError("an unknown field was taken")


def the_schema_is_read_and_queries_are_held_against_it():
    """The client asks for the whole schema first, and refuses by itself what does not fit."""
    with gitlab.GraphQL(URL, token=TOKEN, fetch_schema_from_transport=True) as client:
        who_calls(client)
        try:
            client.execute("{ nothing }")
        except gql.transport.exceptions.TransportQueryError:
            raise AssertionError("the client did not read the schema") from None
        except Exception as error:
            assert "Cannot query field 'nothing'" in str(error), error


def main():
    rest = gitlab.Gitlab(URL, private_token=TOKEN)
    project = rest.projects.create({"name": "Smoke", "path": PATH.split("/")[1], "visibility": "private"})
    try:
        with gitlab.GraphQL(URL, token=TOKEN) as client:
            for step in [who_calls, issues_are_made, issues_are_paged_through, errors_reach_the_caller]:
                step(client)
                print(f"python-gitlab GraphQL: {step.__name__.replace('_', ' ')}: ok")
        for step in [a_wrong_token_is_told_apart, the_schema_is_read_and_queries_are_held_against_it]:
            step()
            print(f"python-gitlab GraphQL: {step.__name__.replace('_', ' ')}: ok")
    finally:
        project.delete()


main()
