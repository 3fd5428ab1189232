//! The appearance of the installation.

use admin::appearance::{Appearance, Picture};
use forge::urls::Urls;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct AppearanceEntity {
    pub title: String,
    pub description: String,
    pub pwa_name: String,
    pub pwa_short_name: String,
    pub pwa_description: String,
    /// Path of the progressive web app's icon.
    pub pwa_icon: Option<String>,
    pub logo: Option<String>,
    pub header_logo: Option<String>,
    pub favicon: Option<String>,
    pub new_project_guidelines: String,
    pub profile_image_guidelines: String,
    pub header_message: String,
    pub footer_message: String,
    pub message_background_color: String,
    pub message_font_color: String,
    pub email_header_and_footer_enabled: bool,
}

impl AppearanceEntity {
    pub fn new(urls: &Urls, appearance: Appearance) -> Self {
        let path = |picture: Picture| {
            let file = appearance.picture(picture)?;
            let folder = urls.folder();
            Some(format!("{folder}/uploads/-/system/appearance/{picture}/1/{file}"))
        };
        Self {
            pwa_icon: path(Picture::PwaIcon),
            logo: path(Picture::Logo),
            header_logo: path(Picture::HeaderLogo),
            favicon: path(Picture::Favicon),
            title: appearance.title,
            description: appearance.description,
            pwa_name: appearance.pwa_name,
            pwa_short_name: appearance.pwa_short_name,
            pwa_description: appearance.pwa_description,
            new_project_guidelines: appearance.new_project_guidelines,
            profile_image_guidelines: appearance.profile_image_guidelines,
            header_message: appearance.header_message,
            footer_message: appearance.footer_message,
            message_background_color: appearance.message_background_color,
            message_font_color: appearance.message_font_color,
            email_header_and_footer_enabled: appearance.email_header_and_footer_enabled,
        }
    }
}
