"""The fields that the vendor's command line client decodes, with the types it decodes them to.

Its decoder is strict: a number with a fraction is no integer, `"1"` no number, and a field of another type fails the
whole answer. Null and absent fields are taken for zero, unknown ones are left out.
"""

import datetime


class Mismatch(AssertionError):
    pass


def moment(value):
    """RFC 3339, as that decoder wants it."""
    assert "T" in value and (value.endswith("Z") or value[-6] in "+-"), value
    return datetime.datetime.fromisoformat(value)


def decode(value, shape, place="answer"):
    """Checks a value as that client's decoder does; answers it with only what the client keeps."""
    if value is None:
        return None
    if isinstance(shape, list):
        check(isinstance(value, list), place, value, "a list")
        return [decode(one, shape[0], f"{place}[{number}]") for number, one in enumerate(value)]
    if isinstance(shape, dict):
        check(isinstance(value, dict), place, value, "an object")
        return {name: decode(value.get(name), kind, f"{place}.{name}") for name, kind in shape.items()}
    if shape is moment:
        check(isinstance(value, str), place, value, "a time")
        return moment(value)
    if shape is float:
        check(isinstance(value, (int, float)) and not isinstance(value, bool), place, value, "a number")
    elif shape is int:
        check(isinstance(value, int) and not isinstance(value, bool), place, value, "an integer")
    elif shape is not object:
        check(isinstance(value, shape), place, value, shape.__name__)
    return value


def check(right, place, value, wanted):
    if not right:
        raise Mismatch(f"{place} is {value!r}, not {wanted}")


def fields(kind, names):
    return dict.fromkeys(names.split(), kind)


BASIC_USER = fields(int, "id") | fields(str, "username name state avatar_url web_url") | fields(bool, "locked")
BASIC_USER |= fields(moment, "created_at")
USER = BASIC_USER | fields(str, "email bio location public_email skype linkedin twitter website_url organization job_title")
USER |= fields(bool, "bot is_admin is_auditor can_create_group external private_profile two_factor_enabled")
USER |= fields(int, "theme_id color_scheme_id projects_limit namespace_id")

PIPELINE_INFO = fields(int, "id iid project_id") | fields(str, "status source ref sha name web_url")
PIPELINE_INFO |= fields(moment, "updated_at created_at")
DETAILED_STATUS = fields(str, "icon text label group tooltip details_path favicon") | fields(bool, "has_details")
DETAILED_STATUS |= {"illustration": fields(str, "image")}
PIPELINE = PIPELINE_INFO | fields(str, "before_sha yaml_errors coverage") | fields(bool, "tag")
PIPELINE |= fields(moment, "started_at finished_at committed_at") | fields(int, "duration queued_duration")
PIPELINE |= {"user": BASIC_USER, "detailed_status": DETAILED_STATUS}

COMMIT = fields(str, "id short_id title author_name author_email committer_name committer_email message status web_url")
COMMIT |= fields(moment, "authored_date committed_date created_at") | fields(int, "project_id")
COMMIT |= {"parent_ids": [str], "stats": fields(int, "additions deletions total"), "last_pipeline": PIPELINE_INFO, "trailers": dict}

TASK = fields(float, "coverage duration queued_duration") | fields(bool, "allow_failure tag") | fields(int, "id")
TASK |= fields(moment, "created_at started_at finished_at erased_at") | fields(str, "name ref stage status failure_reason web_url")
TASK |= {"commit": COMMIT, "user": USER}
JOB = TASK | {
    "artifacts_expire_at": moment,
    "tag_list": [str],
    "pipeline": fields(int, "id project_id") | fields(str, "ref sha status"),
    "artifacts": [fields(str, "file_type filename file_format") | fields(int, "size")],
    "artifacts_file": fields(str, "filename") | fields(int, "size"),
    "runner": fields(int, "id") | fields(str, "description name") | fields(bool, "active is_shared"),
    "project": fields(bool, "ci_job_token_scope_enabled"),
}
BRIDGE = TASK | {"pipeline": PIPELINE_INFO, "downstream_pipeline": PIPELINE_INFO}

STATUS = fields(int, "id pipeline_id") | fields(str, "sha ref status name description target_url") | fields(float, "coverage")
STATUS |= fields(moment, "created_at started_at finished_at") | fields(bool, "allow_failure")
STATUS |= {"author": fields(int, "id") | fields(str, "username email name state") | fields(moment, "created_at")}

LINT = fields(bool, "valid") | fields(str, "merged_yaml") | {"errors": [str], "warnings": [str]}
LINT |= {"includes": [fields(str, "type location blob raw context_project context_sha") | {"extra": dict}]}

PIPELINE_VARIABLE = fields(str, "key value variable_type")
VARIABLE = PIPELINE_VARIABLE | fields(bool, "protected masked hidden raw") | fields(str, "environment_scope description")
SCHEDULE = fields(int, "id") | fields(str, "description ref cron cron_timezone") | fields(bool, "active")
SCHEDULE |= fields(moment, "next_run_at created_at updated_at") | {"owner": USER, "variables": [PIPELINE_VARIABLE]}
SCHEDULE |= {"last_pipeline": fields(int, "id") | fields(str, "sha ref status web_url")}

PROJECT = fields(int, "id") | fields(str, "default_branch path_with_namespace web_url http_url_to_repo")
MERGE_REQUEST = fields(int, "id iid project_id") | fields(str, "source_branch target_branch title state sha web_url")
MERGE_REQUEST |= {"author": BASIC_USER, "head_pipeline": PIPELINE}
