//! The files of wikis, under the addresses that rendered pages lead to.

use actix_web::{HttpResponse, http::header};
use bstr::ByteSlice as _;
use kernel::Error;
use repo::{
    git::{EntryKind, GitError, TreePath, Wiki},
    policy::{ReadGroupWiki, ReadWiki},
    wiki::find,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    file_headers::{content_kind, disposition},
    params,
    present::Custom,
    routes,
};

routes! { "Wikis" at "//-";
    GET "/project/{id}/wikis/{file_path}" => of_project : ReadWiki,
    GET "/group/{id}/wikis/{file_path}"   => of_group   : ReadGroupWiki,
}

params! {
    pub struct OneFile {
        /// Path from the root of the wiki, such as `uploads/…/plan.png`.
        file_path: String,
    }
}

/// Larger files are for git.
const MOST_BYTES: u64 = 256 << 20;

async fn of_project(app: App, call: Call<ReadWiki, OneFile>) -> ApiResult<Custom> {
    sent(&app, Wiki::Project(call.grant.project()), &call.params.file_path).await
}

async fn of_group(app: App, call: Call<ReadGroupWiki, OneFile>) -> ApiResult<Custom> {
    sent(&app, Wiki::Group(call.grant.group()), &call.params.file_path).await
}

/// The newest version. Whatever it is, no browser runs it: texts are plain, and the rest is shut in.
async fn sent(app: &App, wiki: Wiki, path: &str) -> ApiResult<Custom> {
    let absent = || Error::not_found("File");
    let path = TreePath::lookup(path).map_err(|_odd| absent())?;
    let read = app.wiki_read(wiki, move |reader| {
        let tip = find::tip(reader)?.ok_or_else(absent)?;
        let entry = match reader.find_entry(tip, &path) {
            Err(GitError::NotFound) => None,
            found => found?,
        };
        let file = entry.filter(|entry| entry.kind() == EntryKind::Blob).ok_or_else(absent)?;
        Ok((reader.blob(file.id, MOST_BYTES)?, path.name().to_owned()))
    });
    let (content, name) = read.await?.ok_or_else(absent)?;
    Ok(Custom(
        HttpResponse::Ok()
            .content_type(content_kind(&content))
            .insert_header((header::CONTENT_DISPOSITION, disposition(name.as_bstr(), true)))
            .insert_header(("Content-Security-Policy", "sandbox; default-src 'none'"))
            .body(content),
    ))
}
