//! Files as they are, under the address that pages and installers use: `/<project>/-/raw/<revision>/<file>`.

use bstr::ByteSlice as _;
use kernel::{Error, error::Kind};
use repo::{commit::FileQuery, git::TreePath, policy::ReadFiles};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, FilePath},
    params,
    present::{Custom, WithHeaders},
    rest::repo::files::{RawForm, send_raw},
    routes,
};

routes! { "Repository files" at "//-/project/{id}/raw", also [ReadRepository];
    GET "/{place}" => raw : ReadFiles,
}

params! {
    pub struct RawAddress {
        /// Revision, a slash and the path of the file.
        place: FilePath,
        /// Whether the browser may display the file instead of saving it.
        inline: bool = true,
    }
}

async fn raw(app: App, call: Call<ReadFiles, RawAddress>) -> ApiResult<WithHeaders<Custom>> {
    let place = call.params.place.bytes().to_vec();
    let read = app.git_read(call.grant.project(), move |reader| {
        let (ref_name, path) = reader.split_revision(place.as_bstr())?;
        let path = TreePath::lookup(&path).ok().filter(|path| !path.is_root());
        Ok(FileQuery { ref_name, path })
    });
    let query = match read.await {
        Err(unknown) if unknown.is_plain(Kind::NotFound) => {
            return Err(Error::not_found("File").into());
        }
        query => query?,
    };
    let form = RawForm {
        is_head: call.is_method("HEAD"),
        with_large_files: true,
        is_inline: call.params.inline,
    };
    send_raw(&app, &call.grant, query, form).await
}
