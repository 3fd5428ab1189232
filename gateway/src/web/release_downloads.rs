//! Files of releases, under the address that their links have: `/<project>/-/releases/<tag>/downloads/<path>`. The tag
//! `permalink/latest` stands for the newest release.

use forge::release::{ensure_open, latest};
use kernel::Error;
use org::policy::ReadProject;
use repo::release::{
    ReleaseStore as _,
    link::{ReleaseLinkStore as _, is_link_path},
};

use crate::{
    app::App, error::ApiResult, extract::Call, params, present::Custom,
    rest::repo::release_links::redirect, routes,
};

const MARK: &str = "/downloads";
const LATEST: &str = "permalink/latest";

routes! { "Releases" at "//-/project/{id}/releases";
    GET "/{place}" => download : ReadProject,
}

params! {
    struct DownloadAddress {
        /// Tag, `/downloads/` and the path of a link.
        place: String,
    }
}

async fn download(app: App, call: Call<ReadProject, DownloadAddress>) -> ApiResult<Custom> {
    let (grant, place) = (call.grant, call.params.place);
    let found = app.db.read(move |tx| {
        ensure_open(tx, grant.project(), grant.who())?;
        // A tag may have the mark in its name, and so may a path.
        for (at, _) in place.match_indices(&format!("{MARK}/")) {
            let (tag, path) = (&place[..at], &place[at + MARK.len()..]);
            // Paths are short, so few of many marks are looked at.
            if !is_link_path(path) {
                continue;
            }
            let release = match tag {
                LATEST => Some(latest(tx, grant.project(), grant.who())?),
                tag => tx.find_release(grant.project(), tag)?,
            };
            let Some(release) = release else { continue };
            if let Some(link) = tx.release_link_at(release.id, path)? {
                return Ok(link);
            }
        }
        Err(Error::missing())
    });
    Ok(redirect(&found.await?))
}
