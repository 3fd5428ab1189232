//! Pages of wikis and their attachments.

use repo::wiki::{Attachment, Page, PageFile};
use serde::Serialize;
use utoipa::ToSchema;

/// A wiki page without its content.
#[derive(Debug, Serialize, ToSchema)]
pub struct WikiPageBasicEntity {
    pub format: &'static str,
    pub slug: String,
    pub title: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WikiPageEntity {
    #[serde(flatten)]
    pub basic: WikiPageBasicEntity,
    pub content: String,
    pub encoding: &'static str,
}

/// A wiki page in a list, with its content when `with_content` is true.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WikiListEntity {
    Whole(WikiPageEntity),
    Basic(WikiPageBasicEntity),
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WikiAttachmentEntity {
    pub file_name: String,
    pub file_path: String,
    pub branch: String,
    pub link: WikiLinkEntity,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WikiLinkEntity {
    pub url: String,
    pub markdown: String,
}

impl From<PageFile> for WikiPageBasicEntity {
    fn from(page: PageFile) -> Self {
        Self { format: page.markup.as_str(), title: page.title(), slug: page.slug }
    }
}

impl From<Page> for WikiPageEntity {
    fn from(page: Page) -> Self {
        Self { basic: page.file.into(), content: page.content, encoding: "UTF-8" }
    }
}

impl WikiAttachmentEntity {
    pub fn new(file: Attachment, branch: String) -> Self {
        let link = WikiLinkEntity { url: file.path.clone(), markdown: file.markdown() };
        Self { file_name: file.name, file_path: file.path, branch, link }
    }
}
