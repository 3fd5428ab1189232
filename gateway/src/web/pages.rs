//! Pages for people. Until they show the thing itself they name it, and say where the API tells it.

use actix_web::http::StatusCode;
use bstr::ByteSlice as _;
use forge::user::visibility::sees_people;
use kernel::{Ability as _, Error, Grant, Result, access::Anyone, page::PageRequest};
use org::{
    key::ssh::store::SshKeyStore as _,
    policy::{ReadGroup, ReadProject},
    user::store::UserStore,
};
use repo::policy::{PushCode, ReadCode};

use super::{
    html::{escaped, page},
    page_subject::{RecordAddress, encoded},
};
use crate::{
    app::App, error::ApiResult, extract::Call, params, present::Custom, route::ROOT, routes,
};

routes! { "Pages" at "//-";
    GET "/project/{id}/page"         => of_project : ReadProject,
    GET "/project/{id}/page/{thing}" => of_project : ReadProject,
    GET "/group/{id}/page"           => of_group   : ReadGroup,
    GET "/group/{id}/page/{thing}"   => of_group   : ReadGroup,
    GET "/user/{username}/page"      => of_user    : Anyone,
}

params! {
    struct Page {
        /// Part of the URL after `/-/`, such as `issues/5`.
        thing: Option<String>,
    }
}

params! {
    struct OnePerson {
        username: String,
    }
}

async fn of_project(app: App, call: Call<ReadProject, Page>) -> ApiResult<Custom> {
    let rest = call.params.thing.unwrap_or_default();
    let thing = match at_revision(&app, &call.grant, &rest).await? {
        Some(thing) => thing,
        None => RecordAddress::of_project(&rest),
    };
    let full_path = &call.grant.facts().full_path;
    let record = thing.record_in("projects", full_path);
    let more = match thing.name.is_empty() {
        true => {
            let address = escaped(&app.urls.at(&format!("{full_path}.git")));
            let message = key_message(&app, &call.grant).await?;
            format!("<p>Git finds the project at <code>{address}</code>.</p>{message}")
        }
        false => String::new(),
    };
    Ok(shown(&app, &thing.name, full_path, &record, &more))
}

/// What somebody who might push is told who has no SSH key, unless the settings keep silent about it.
async fn key_message(app: &App, grant: &Grant<ReadProject>) -> Result<&'static str> {
    const MESSAGE: &str = "<p>You have no SSH key: commits that you sign with one are not verified until you add it \
                           to your profile.</p>";
    let user = grant.actor().id.filter(|_| PushCode::allows(grant.who()));
    let Some(user) = user.filter(|_| app.settings().user_show_add_ssh_key_message()) else {
        return Ok("");
    };
    let page = PageRequest { page: 1, per_page: 1 };
    let keys = app.db.peek(move |tx| tx.ssh_keys(user, page)).await?;
    Ok(if keys.items.is_empty() { MESSAGE } else { "" })
}

async fn of_group(app: App, call: Call<ReadGroup, Page>) -> ApiResult<Custom> {
    let thing = RecordAddress::of_group(&call.params.thing.unwrap_or_default());
    let full_path = &call.grant.group_facts().full_path;
    let record = thing.record_in("groups", full_path);
    Ok(shown(&app, &thing.name, full_path, &record, ""))
}

async fn of_user(app: App, call: Call<Anyone, OnePerson>) -> ApiResult<Custom> {
    let (actor, name) = (call.grant.actor(), call.params.username);
    let found = app.db.peek(move |tx| match sees_people(tx, actor)? {
        true => tx.find_user_named(&name),
        false => Ok(None),
    });
    let user = found.await?.ok_or_else(|| Error::not_found("User"))?;
    let record = format!("{ROOT}/users?username={}", encoded(&user.username));
    Ok(shown(&app, "", &user.username, &record, ""))
}

/// A folder, a file or a list of commits: where the revision ends and the path begins, only the repository knows.
async fn at_revision(
    app: &App,
    grant: &Grant<ReadProject>,
    rest: &str,
) -> Result<Option<RecordAddress>> {
    let Some((kind, place)) = rest.split_once('/').filter(|(_, place)| !place.is_empty()) else {
        return Ok(None);
    };
    if !matches!(kind, "tree" | "blob" | "blame" | "commits") {
        return Ok(None);
    }
    let place = place.trim_end_matches('/').to_owned();
    let (revision, path) = match ReadCode::allows(grant.who()) {
        true => {
            let read = app.git_read(grant.facts().id, move |reader| {
                let (revision, path) = reader.split_revision(place.as_bytes().as_bstr())?;
                Ok((revision, path.to_str_lossy().into_owned()))
            });
            read.await?
        }
        // No more than the address itself says.
        false => match place.split_once('/') {
            Some((revision, path)) => (revision.to_owned(), path.to_owned()),
            None => (place, String::new()),
        },
    };
    Ok(Some(RecordAddress::at_revision(kind, &revision, &path)))
}

fn shown(app: &App, name: &str, home: &str, record: &str, more: &str) -> Custom {
    let home = escaped(home);
    let title = match name {
        "" => home,
        name => format!("{} · {home}", escaped(name)),
    };
    let folder = app.urls.folder();
    let (address, text) = (escaped(&format!("{folder}{record}")), escaped(record));
    let body = format!(
        "<p>There is no page for this yet. The API tells it: <a href=\"{address}\"><code>{text}</code></a></p>{more}"
    );
    Custom(page(StatusCode::OK, &title, &body))
}
