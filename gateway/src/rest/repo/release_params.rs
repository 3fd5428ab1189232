//! Parameters of releases and of their links.

use kernel::ids::ReleaseLinkId;
use repo::release::link::{LinkChange, LinkType, NewLink};

use crate::{extract::Change, param_enums, params};

param_enums! { LinkType }

params! {
    /// What a release begins with.
    pub struct Assets {
        links: Option<Vec<LinkOfRelease>>,
    }
}

params! {
    pub struct LinkOfRelease {
        name: String,
        url: String,
        /// Path that starts with `/`. A URL below the release with this path redirects to `url`.
        direct_asset_path: Option<String>,
        /// Old name of `direct_asset_path`.
        filepath: Option<String>,
        link_type: LinkType = LinkType::Other,
    }
}

impl From<LinkOfRelease> for NewLink {
    fn from(new: LinkOfRelease) -> Self {
        let path = new.direct_asset_path.or(new.filepath);
        Self {
            name: new.name,
            url: new.url,
            filepath: path.filter(|path| !path.is_empty()),
            link_type: new.link_type,
        }
    }
}

params! {
    pub struct ListLinks: paged {
        tag_name: String,
    }
}

params! {
    pub struct OneLink {
        tag_name: String,
        link_id: ReleaseLinkId,
    }
}

params! {
    pub struct LinkedRelease {
        tag_name: String,
    }
}

params! {
    pub struct UpdateLink {
        name: Option<String>,
        url: Option<String>,
        /// Path that starts with `/`. A URL below the release with this path redirects to `url`.
        direct_asset_path: Change<String>,
        /// Old name of `direct_asset_path`.
        filepath: Change<String>,
        link_type: Option<LinkType>,
    } with at_least_one("name", "url");
}

impl From<UpdateLink> for LinkChange {
    fn from(change: UpdateLink) -> Self {
        let path = change.direct_asset_path.into_update();
        Self {
            name: change.name,
            url: change.url,
            filepath: path.or_else(|| change.filepath.into_update()),
            link_type: change.link_type,
        }
    }
}
