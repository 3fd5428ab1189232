//! The changelog settings of a project: a YAML file in its repository.

use std::collections::BTreeMap;

use kernel::Result;
use regex::Regex;
use serde::Deserialize;
use time::{Date, format_description};

use super::{failed, template::Template};

/// Where the file is, unless the caller names another.
pub const FILE: &str = ".gitlab/changelog_config.yml";

/// Tags that stand for releases; a candidate has something in the group `pre`.
const TAGS: &str = r"^v?(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)\.(?P<patch>0|[1-9]\d*)(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+(?P<meta>[0-9A-Za-z.-]+))?$";

const TEMPLATE: &str = "\
{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.reference }})\\
{% if author.reference %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.reference }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    date_format: Option<String>,
    template: Option<String>,
    categories: BTreeMap<String, String>,
    tag_regex: Option<String>,
}

/// A project's wishes, ready to be used.
#[derive(Clone, Debug)]
pub struct Config {
    date_format: String,
    pub(super) template: Template,
    categories: BTreeMap<String, String>,
    pub(super) tags: Regex,
}

impl Config {
    /// Without a file everything has its default.
    pub fn read(file: Option<&str>) -> Result<Self> {
        let fields: Fields = match file {
            Some(text) => serde_saphyr::from_str(text).map_err(failed)?,
            None => Fields::default(),
        };
        let tags = Regex::new(fields.tag_regex.as_deref().unwrap_or(TAGS)).map_err(failed)?;
        Ok(Self {
            date_format: fields.date_format.unwrap_or_else(|| "%Y-%m-%d".to_owned()),
            template: Template::parse(fields.template.as_deref().unwrap_or(TEMPLATE))?,
            categories: fields.categories,
            tags,
        })
    }

    /// What the changes of this trailer value are called.
    pub fn category<'a>(&'a self, value: &'a str) -> &'a str {
        self.categories.get(value).map_or(value, String::as_str)
    }

    /// The day, in the form that was asked for.
    pub(super) fn date(&self, date: Date) -> String {
        let form = format_description::parse_strftime_borrowed(&self.date_format);
        let written = form.ok().and_then(|form| date.format(&form).ok());
        written.unwrap_or_else(|| kernel::time::date_text(date))
    }
}
