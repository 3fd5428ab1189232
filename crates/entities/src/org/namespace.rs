//! A namespace as project records mention it.

use forge::urls::Urls;
use org::namespace::{Kind, Namespace};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct NamespaceEntity {
    pub id: i64,
    pub name: String,
    pub path: String,
    #[schema(value_type = String)]
    pub kind: Kind,
    pub full_path: String,
    pub parent_id: Option<i64>,
    pub avatar_url: Option<String>,
    pub web_url: String,
}

impl NamespaceEntity {
    pub fn new(urls: &Urls, namespace: &Namespace) -> Self {
        let (id, path) = (namespace.id, &namespace.full_path);
        let web_url = match namespace.kind {
            Kind::Group => urls.at(&format!("groups/{path}")),
            Kind::User => urls.at(path),
        };
        let picture = |file| urls.at(&format!("uploads/-/system/group/avatar/{id}/{file}"));
        Self {
            id: id.0,
            name: namespace.name.clone(),
            path: namespace.path.clone(),
            kind: namespace.kind,
            full_path: path.clone(),
            parent_id: namespace.parent_id.map(|parent| parent.0),
            avatar_url: namespace.avatar.as_ref().map(picture),
            web_url,
        }
    }
}
