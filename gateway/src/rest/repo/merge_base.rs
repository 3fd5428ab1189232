//! Merge bases.

use entities::repo::commit::CommitEntity;
use repo::{compare, policy::ReadCode};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Csv},
    params,
    present::Json,
    routes,
};

routes! { "Merge base" at "/projects/{id}/repository/merge_base";
    GET "" => show : ReadCode,
}

params! {
    pub struct MergeBase {
        /// Two or more branches, tags or commit SHAs.
        refs: Csv<String>,
    }
}

async fn show(app: App, call: Call<ReadCode, MergeBase>) -> ApiResult<Json<CommitEntity>> {
    let (url, refs) = (app.urls.at(&call.grant.facts().full_path), call.params.refs);
    let read =
        app.git_read(call.grant.project(), move |reader| compare::merge_base(reader, &refs.0));
    Ok(Json(CommitEntity::new(&read.await?, &url)))
}
