//! Archives under the address that installers and package managers use:
//! `/<project>/-/archive/<revision>/<project>-<revision>.tar.gz`.

use repo::{git::archive::ArchiveFormat, policy::ReadCode};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{Call, PathBytes},
    params,
    present::Custom,
    rest::repo::archive::{ArchiveRequest, send},
    routes,
};

routes! { "Archives" at "//-/project/{id}/archive";
    GET "/{place}" => archive : ReadCode,
}

params! {
    pub struct ArchiveAddress {
        /// Revision, a slash and a file name with the format's extension, or the revision with the extension.
        place: String,
        /// Restricts the archive to this folder.
        path: Option<PathBytes>,
        /// Whether LFS objects replace their pointer files.
        include_lfs_blobs: bool = true,
    }
}

async fn archive(app: App, call: Call<ReadCode, ArchiveAddress>) -> ApiResult<Custom> {
    let (place, format) = split_ending(&call.params.place).ok_or(ApiError::NoRoute)?;
    let (revision, name) = match place.rsplit_once('/') {
        Some((revision, name)) => (revision, Some(name.to_owned())),
        None => (place, None),
    };
    let wish = ArchiveRequest {
        revision: Some(revision.to_owned()),
        path: call.params.path.clone().unwrap_or_default(),
        format,
        with_large_files: call.params.include_lfs_blobs,
        name,
    };
    send(&app, &call, wish).await
}

/// The longest ending that says which kind of archive is wanted.
fn split_ending(place: &str) -> Option<(&str, ArchiveFormat)> {
    let name = place.rfind('/').map_or(0, |slash| slash + 1);
    let dots = place[name..].match_indices('.').map(|(dot, _)| name + dot);
    dots.into_iter().find_map(|dot| {
        let format = ArchiveFormat::of_extension(&place[dot + 1..])?;
        Some((&place[..dot], format))
    })
}

#[cfg(test)]
mod tests {
    use repo::git::archive::ArchiveFormat::{Tar, TarBz2, TarGz, Zip};

    use super::split_ending;

    #[test]
    fn the_ending_says_the_format() {
        for (place, expected) in [
            ("v1.0/x-v1.0.tar.gz", Some(("v1.0/x-v1.0", TarGz))),
            ("v1.0/x-v1.0.zip", Some(("v1.0/x-v1.0", Zip))),
            ("f/x/any.tar", Some(("f/x/any", Tar))),
            ("v1.0.tar.bz2", Some(("v1.0", TarBz2))),
            ("v1.zip/any", None),
            ("v1", None),
        ] {
            assert_eq!(split_ending(place), expected, "{place}");
        }
    }
}
