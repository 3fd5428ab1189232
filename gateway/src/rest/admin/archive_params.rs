//! Parameters of archive exports and imports.

use admin::archive::{Overrides, UploadMethod};
use forge::{archive::actions::ProjectImport, files::Upload};
use kernel::ids::NamespaceId;
use serde_json::{Value, json};

use crate::{
    extract::{NonEmpty, Param, ParamErrors, Raw, params::INVALID},
    param_enums, params,
};

param_enums! { UploadMethod }

params! {
    /// Where the archive is sent once it is written.
    pub struct UploadParams {
        /// URL that takes the archive. Local addresses are refused.
        url: NonEmpty,
        http_method: UploadMethod = UploadMethod::Put,
    }
}

params! {
    pub struct ExportProject {
        /// Replaces the description of the project in the archive.
        description: Option<String>,
        upload: Option<UploadParams>,
    }
}

params! {
    pub struct ImportProject {
        /// The archive. Limited by the setting `max_import_size`, in MB.
        file: Upload,
        /// Path of the project in its namespace.
        path: NonEmpty,
        /// Default: the path.
        name: Option<String>,
        /// ID or path of the namespace. Default: the caller's own.
        namespace: Option<String>,
        /// Whether a project of the caller's with the same path is deleted first.
        overwrite: bool = false,
        /// Fields of the project that replace those of the archive: `description`, `visibility` and settings.
        override_params: Option<OverrideMap>,
    }
}

params! {
    pub struct ImportGroup {
        /// The archive. Limited by the setting `max_import_size`, in MB.
        file: Upload,
        name: NonEmpty,
        path: NonEmpty,
        /// ID of the group above. Default: none.
        parent_id: Option<NamespaceId>,
    }
}

/// Values by names.
#[derive(Clone, Debug, Default)]
pub struct OverrideMap(pub serde_json::Map<String, Value>);

impl Param for OverrideMap {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let map = match raw {
            Raw::Null => return Ok(None),
            Raw::Map(map) => map,
            _ => return Err(ParamErrors::one(INVALID)),
        };
        let mut found = serde_json::Map::new();
        for (name, value) in map.iter() {
            found.extend(plain(value).map(|value| (name.to_owned(), value)));
        }
        Ok(Some(Self(found)))
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": true })
    }
}

/// A single value; in forms, numbers and truth values are texts.
fn plain(raw: &Raw) -> Option<Value> {
    match raw {
        Raw::Null => Some(Value::Null),
        Raw::Bool(flag) => Some(Value::Bool(*flag)),
        Raw::Number(number) => Some(Value::Number(number.clone())),
        Raw::Text(text) => Some(match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text.clone()),
        }),
        Raw::Bytes(_) | Raw::List(_) | Raw::Map(_) | Raw::File(_) | Raw::Attached(_) => None,
    }
}

impl From<ImportProject> for ProjectImport {
    fn from(params: ImportProject) -> Self {
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Self {
            file: params.file,
            path: params.path.0,
            name: filled(params.name),
            namespace: filled(params.namespace),
            overwrite: params.overwrite,
            overrides: Overrides {
                project: params.override_params.unwrap_or_default().0,
                ..Overrides::default()
            },
        }
    }
}
