//! How large things may be, and how often they may be asked for. The limits without a period count for a minute and person.
//!
//! Rates are off until an administrator, or the configuration of the server, sets them.

use super::form::{Form, Preset, Setting, list, optional, short, text, typed, whole, within};

/// Of diffs: no less is ever shown, and no more could be.
const PATCH_BYTES: (i64, i64) = (200 << 10, 500 << 10);
const DIFF_FILES: (i64, i64) = (1000, 3000);
const DIFF_LINES: (i64, i64) = (50_000, 100_000);

pub(super) const ROWS: &[Setting] = &[
    within("diff_max_patch_bytes", 200 << 10, PATCH_BYTES.0, PATCH_BYTES.1).acts(),
    within("diff_max_files", 1000, DIFF_FILES.0, DIFF_FILES.1).acts(),
    within("diff_max_lines", 50_000, DIFF_LINES.0, DIFF_LINES.1).acts(),
    whole("group_download_export_limit", 1).acts(),
    whole("group_export_limit", 6).acts(),
    whole("group_import_limit", 6).acts(),
    whole("issues_create_limit", 0).preset(Preset::None).acts(),
    within("max_attachment_size", 100, 1, 1 << 20).acts(),
    whole("max_export_size", 0).acts(),
    whole("max_import_size", 0).acts(),
    whole("notes_create_limit", 0).preset(Preset::None).acts(),
    list("notes_create_limit_allowlist", 100).acts(),
    whole("project_download_export_limit", 1).acts(),
    whole("project_export_limit", 6).acts(),
    whole("project_import_limit", 6).acts(),
    text("rate_limiting_response_text").acts(),
    whole("raw_blob_request_limit", 300).acts(),
    optional("receive_max_input_size", 1, 1 << 20).acts(),
    whole("search_rate_limit", 30),
    whole("search_rate_limit_unauthenticated", 10),
    within("snippet_size_limit", 50 << 20, 1, i64::MAX),
    whole("users_get_by_id_limit", 0).preset(Preset::None).acts(),
    list("users_get_by_id_limit_allowlist", 100).acts(),
    typed(
        "wiki_page_max_content_bytes",
        Form::Whole { least: 1024, most: i64::MAX, optional: false },
    ),
    short("personal_access_token_prefix").preset(Preset::Typed).acts(),
];
