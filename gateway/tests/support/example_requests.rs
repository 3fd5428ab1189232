//! Requests made from what a route declares.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use actix_web::http::Method;
use gateway::{
    extract::params::ParamDoc,
    openapi::{Operation, Schemas},
    rest,
    route::RouteRow,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::{Answer, Person};

/// A value that a parameter of this schema accepts.
pub(crate) fn sample(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0).or(schema["examples"].get(0)) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            fields
                .iter()
                .map(|(name, field)| (name.clone(), sample(field)))
                .collect::<Map<_, _>>()
                .into()
        }
        _ if schema["format"] == "date" => json!("2030-01-01"),
        _ if schema["format"] == "date-time" => json!("2030-01-01T00:00:00Z"),
        _ => json!("sample"),
    }
}

const FORM: &str = "multipart/form-data; boundary=edge";

/// Where only kinds of integrations have a route; one that needs no parameters is asked for.
const INTEGRATIONS: [&str; 2] = ["/integrations/{slug}", "/services/{slug}"];

/// A request for a row, with values by name.
#[derive(Clone, Debug)]
pub(crate) struct RowRequest {
    row: &'static RouteRow,
    values: Map<String, Value>,
}

impl RowRequest {
    /// Well-formed, for the project or person `id`; what it names beside that need not exist. A row that wants one
    /// of many parameters does not get it.
    pub(crate) fn of(row: &'static RouteRow, id: &str) -> Self {
        let needed = declared(row)
            .iter()
            .filter(|param| param.required || row.pattern.contains(&place(param.name)));
        let values = needed.map(|param| (param.name.to_owned(), sample(&param.schema))).collect();
        let request = Self { row, values }.with("id", &json!(id));
        match row.method == "PUT" && INTEGRATIONS.iter().any(|end| row.pattern.ends_with(end)) {
            true => request.with("slug", &json!("gitlab-slack-application")),
            false => request,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &Value) -> Self {
        self.values.insert(name.to_owned(), value.clone());
        self
    }

    pub(crate) fn method(&self) -> Method {
        Method::from_bytes(self.row.method.as_bytes()).expect("a method")
    }

    /// The path with its values; what has none is 1.
    pub(crate) fn path(&self) -> String {
        let mut path = self.row.pattern.to_owned();
        for (name, value) in &self.values {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let written = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
            path = path.replace(&place(name), &written);
        }
        while let (Some(open), Some(close)) = (path.find('{'), path.find('}')) {
            path.replace_range(open..=close, "1");
        }
        path
    }

    /// The values that the path does not name.
    pub(crate) fn body(&self) -> Value {
        let others =
            self.values.iter().filter(|(name, _)| !self.row.pattern.contains(&place(name)));
        Value::Object(others.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    pub(crate) async fn by(&self, person: &Person<'_>) -> Answer {
        let (method, path) = (self.method(), self.path());
        match self.form() {
            Some(form) => person.send_bytes(method, &path, FORM, form.as_bytes()).await,
            None => person.send(method, &path, Some(self.body())).await,
        }
    }

    /// The form for a row that wants a file, where all others are texts.
    fn form(&self) -> Option<String> {
        let wanted = |param: &&ParamDoc| param.required && param.schema["format"] == "binary";
        let file = declared(self.row).iter().find(wanted)?.name;
        let body = self.body();
        let fields = body.as_object()?.iter().map(|(name, value)| {
            let (text, kind) =
                (value.as_str()?, if name == file { "; filename=\"a.txt\"" } else { "" });
            let head = format!("Content-Disposition: form-data; name=\"{name}\"{kind}");
            Some(format!("--edge\r\n{head}\r\n\r\n{text}\r\n"))
        });
        let fields: String = fields.collect::<Option<_>>()?;
        // Whoever gave something else in its place meant that.
        (body[file] == "sample").then(|| format!("{fields}--edge--\r\n"))
    }
}

fn place(name: &str) -> String {
    format!("{{{name}}}")
}

/// What a row takes. A description holds the schemas of the answers, too, so it is made once for each row.
pub(crate) fn declared(row: &RouteRow) -> &'static [ParamDoc] {
    static DECLARED: Mutex<BTreeMap<(&str, &str), &[ParamDoc]>> = Mutex::new(BTreeMap::new());
    let mut declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    declared.entry((row.method, row.pattern)).or_insert_with(|| {
        let is_row = |one: &&RouteRow| (one.method, one.pattern) == (row.method, row.pattern);
        let described = rest::described().into_iter().find(|(one, _)| is_row(one));
        let (_, describe) = described.expect("every row is described");
        let Operation { params, .. } = describe(&mut Schemas::default());
        params.leak()
    })
}
