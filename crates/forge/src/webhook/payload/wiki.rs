//! Pages of wikis.

use org::user::User;
use repo::{event::WikiAction, wiki::PageName};
use serde_json::{Value, json};

use super::common::{ProjectContext, user_json};

/// A page; its text and the message of its version are added when they were read.
pub(crate) fn page(
    context: &ProjectContext,
    user: Option<&User>,
    page: &PageName,
    deed: (WikiAction, &str),
) -> Value {
    json!({
        "object_kind": "wiki_page",
        "user": user.map(|user| user_json(context.urls(), user)),
        "project": context.project_json(),
        "wiki": context.wiki(),
        "object_attributes": attributes(&context.url(), page, deed),
    })
}

/// What is told of a page in a project with this address.
pub(crate) fn attributes(
    project_url: &str,
    page: &PageName,
    (action, version): (WikiAction, &str),
) -> Value {
    let action = match action {
        WikiAction::Create => "create",
        WikiAction::Update | WikiAction::Attach => "update",
        WikiAction::Delete => "delete",
    };
    let url = format!("{project_url}/-/wikis/{}", page.slug);
    json!({
        "title": page.title(),
        "content": null,
        "format": page.markup.as_str(),
        "message": null,
        "slug": page.slug,
        "version_id": version,
        "url": url,
        "diff_url": format!("{url}/diff?version_id={version}"),
        "action": action,
    })
}

/// A page that is still to be found: all attributes are added when it was read.
pub(crate) fn unknown_page(context: &ProjectContext, user: &User) -> Value {
    json!({
        "object_kind": "wiki_page",
        "user": user_json(context.urls(), user),
        "project": context.project_json(),
        "wiki": context.wiki(),
        "object_attributes": null,
    })
}
