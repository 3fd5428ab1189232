//! The appearance as it is stored.

use kernel::{Faults, Result};
use serde::{Deserialize, Serialize};

/// Of texts that are shown as a line.
const LINE: usize = 255;
/// Of texts that are pages.
const PROSE: usize = 65_536;

kernel::text_enum! {
    /// Pictures of the installation, by the names of their parameters.
    pub enum Picture {
        Logo = "logo", HeaderLogo = "header_logo", Favicon = "favicon", PwaIcon = "pwa_icon",
    }
}

/// Stored as one JSON object; a key that is not there has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Appearance {
    pub title: String,
    pub description: String,
    pub pwa_name: String,
    pub pwa_short_name: String,
    pub pwa_description: String,
    pub new_project_guidelines: String,
    pub profile_image_guidelines: String,
    pub header_message: String,
    pub footer_message: String,
    pub message_background_color: String,
    pub message_font_color: String,
    pub email_header_and_footer_enabled: bool,
    /// Names of files.
    pub logo: Option<String>,
    pub header_logo: Option<String>,
    pub favicon: Option<String>,
    pub pwa_icon: Option<String>,
}

impl Default for Appearance {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            pwa_name: String::new(),
            pwa_short_name: String::new(),
            pwa_description: String::new(),
            new_project_guidelines: String::new(),
            profile_image_guidelines: String::new(),
            header_message: String::new(),
            footer_message: String::new(),
            message_background_color: "#E75E40".to_owned(),
            message_font_color: "#FFFFFF".to_owned(),
            email_header_and_footer_enabled: false,
            logo: None,
            header_logo: None,
            favicon: None,
            pwa_icon: None,
        }
    }
}

impl Appearance {
    /// The name of the file of a picture.
    pub fn picture(&self, picture: Picture) -> Option<&str> {
        match picture {
            Picture::Logo => self.logo.as_deref(),
            Picture::HeaderLogo => self.header_logo.as_deref(),
            Picture::Favicon => self.favicon.as_deref(),
            Picture::PwaIcon => self.pwa_icon.as_deref(),
        }
    }

    pub fn set_picture(&mut self, picture: Picture, file: Option<String>) {
        let place = match picture {
            Picture::Logo => &mut self.logo,
            Picture::HeaderLogo => &mut self.header_logo,
            Picture::Favicon => &mut self.favicon,
            Picture::PwaIcon => &mut self.pwa_icon,
        };
        *place = file;
    }

    pub(super) fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        for (name, text) in [
            ("title", &self.title),
            ("pwa_name", &self.pwa_name),
            ("pwa_short_name", &self.pwa_short_name),
        ] {
            faults.at_most(name, Some(text), LINE);
        }
        for (name, text) in [
            ("description", &self.description),
            ("pwa_description", &self.pwa_description),
            ("new_project_guidelines", &self.new_project_guidelines),
            ("profile_image_guidelines", &self.profile_image_guidelines),
            ("header_message", &self.header_message),
            ("footer_message", &self.footer_message),
        ] {
            faults.at_most(name, Some(text), PROSE);
        }
        for (name, color) in [
            ("message_background_color", &self.message_background_color),
            ("message_font_color", &self.message_font_color),
        ] {
            if csscolorparser::parse(color).is_err() {
                faults.add(name, "must be a valid color code");
            }
        }
        faults.into_result()
    }
}
