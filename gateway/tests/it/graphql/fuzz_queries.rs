//! Random queries and mutations that fit the schema, made of the answer to its introspection.

use std::collections::BTreeMap;

use serde_json::Value;

/// Numbers that follow from a seed alone.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below a limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit.max(1)
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(super) fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        let place = self.below(values.len());
        &values[place]
    }
}

/// The types of the schema, by their names.
pub(super) struct Types(BTreeMap<String, Value>);

/// What is written where a text is wanted.
const TEXTS: &[&str] = &[
    "ada/forge",
    "ada/hidden",
    "orchid",
    "orchid/site",
    "main",
    "README.md",
    "ada",
    "bob",
    "1",
    "2",
    "2024-01-01",
    "id_desc",
    "topic",
    "bug",
    "",
    "ü\u{0}\u{fffd}%_\\\"'",
    "-1",
];
const NUMBERS: &[&str] = &["0", "1", "2", "100", "101", "-1", "2147483647"];
const TIMES: &[&str] = &["2024-01-01T00:00:00Z", "2999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"];

impl Types {
    /// Of an answer to introspection.
    pub(super) fn of(introspection: &Value) -> Self {
        let types = introspection["data"]["__schema"]["types"].as_array().expect("types");
        let named = types.iter().map(|one| (text(&one["name"]), one.clone()));
        Self(named.collect())
    }

    /// The fields of a type.
    pub(super) fn fields(&self, name: &str) -> &[Value] {
        self.0[name]["fields"].as_array().map_or(&[], Vec::as_slice)
    }

    /// A query of one field of the root, or of a random part of a record that is known to exist.
    pub(super) fn query(&self, random: &mut Random, round: usize) -> String {
        let starts = [
            ("project(fullPath: \"ada/forge\")", "Project"),
            ("project(fullPath: \"ada/hidden\")", "Project"),
            ("group(fullPath: \"orchid\")", "Group"),
            ("currentUser", "UserCore"),
        ];
        match round % 3 {
            0 => {
                let roots = self.fields("Query");
                let field = &roots[(round / 3) % roots.len()];
                format!("{{ {} }}", self.field(random, field, 5))
            }
            1 => {
                // Each field of a record has its turn.
                let (start, kind) = starts[(round / 3) % starts.len()];
                let fields = self.fields(kind);
                let field = &fields[(round / (3 * starts.len())) % fields.len()];
                format!("{{ {start} {{ __typename {} }} }}", self.field(random, field, 4))
            }
            _ => {
                let (start, kind) = *random.pick(&starts);
                format!("{{ {start} {} }}", self.selection(random, kind, 4))
            }
        }
    }

    /// A mutation with random input.
    pub(super) fn mutation(&self, random: &mut Random, field: &Value) -> String {
        format!("mutation {{ {} }}", self.field(random, field, 3))
    }

    fn selection(&self, random: &mut Random, name: &str, depth: usize) -> String {
        let kind = &self.0[name];
        let mut parts = vec!["__typename".to_owned()];
        if let Some(possible) = kind["possibleTypes"]
            .as_array()
            .filter(|_| random.one_in(2) || kind["fields"].is_null())
        {
            let narrow = text(&random.pick(possible)["name"]);
            parts.push(format!("... on {narrow} {}", self.selection(random, &narrow, depth)));
        }
        let fields = self.fields(name);
        if fields.iter().any(|field| field["name"] == "id") {
            parts.push("id".to_owned());
        }
        let is_on_the_way =
            |field: &&Value| matches!(field["name"].as_str(), Some("nodes" | "node"));
        let mut chosen: Vec<&Value> = fields.iter().filter(is_on_the_way).collect();
        chosen.extend((0..2).map(|_| random_field(random, fields)));
        for field in chosen {
            let written = self.field(random, field, depth.saturating_sub(1));
            // Fragments beside have names of their own.
            parts.push(format!("f{}: {written}", random.below(1_000_000)));
        }
        format!("{{ {} }}", parts.join(" "))
    }

    fn field(&self, random: &mut Random, field: &Value, depth: usize) -> String {
        let mut arguments = Vec::new();
        let name = text(&field["name"]);
        for argument in field["args"].as_array().expect("arguments") {
            let key = text(&argument["name"]);
            let value = match key.as_str() {
                "first" if random.below(10) > 0 => "2".to_owned(),
                "first" | "last" | "after" | "before" if !random.one_in(12) => continue,
                _ if !is_required(argument) && !random.one_in(4) => continue,
                _ => self.value(random, &argument["type"], 2),
            };
            arguments.push(format!("{key}: {value}"));
        }
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("({})", arguments.join(", ")),
        };
        let kind = type_name(&field["type"]);
        match self.0[&kind]["kind"].as_str() {
            Some("OBJECT" | "INTERFACE" | "UNION") if depth == 0 => {
                format!("{name}{arguments} {{ __typename }}")
            }
            Some("OBJECT" | "INTERFACE" | "UNION") => {
                format!("{name}{arguments} {}", self.selection(random, &kind, depth))
            }
            _ => format!("{name}{arguments}"),
        }
    }

    fn value(&self, random: &mut Random, kind: &Value, depth: usize) -> String {
        match kind["kind"].as_str() {
            Some("NON_NULL") => self.value(random, &kind["ofType"], depth),
            Some("LIST") => {
                let many = random.below(3);
                let values = (0..many).map(|_| self.value(random, &kind["ofType"], depth));
                format!("[{}]", values.collect::<Vec<_>>().join(", "))
            }
            Some("ENUM") => {
                let values = self.0[&text(&kind["name"])]["enumValues"].as_array().expect("values");
                text(&random.pick(values)["name"])
            }
            Some("INPUT_OBJECT") => self.input(random, &text(&kind["name"]), depth),
            _ => scalar(random, &text(&kind["name"])),
        }
    }

    fn input(&self, random: &mut Random, name: &str, depth: usize) -> String {
        let mut given = Vec::new();
        for field in self.0[name]["inputFields"].as_array().expect("fields of an input") {
            if is_required(field) || (depth > 0 && random.one_in(3)) {
                let value = self.value(random, &field["type"], depth.saturating_sub(1));
                given.push(format!("{}: {value}", text(&field["name"])));
            }
        }
        format!("{{ {} }}", given.join(", "))
    }
}

fn random_field<'f>(random: &mut Random, fields: &'f [Value]) -> &'f Value {
    static TYPE_NAME: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| {
        let kind = serde_json::json!({ "kind": "SCALAR", "name": "String" });
        serde_json::json!({ "name": "__typename", "args": [], "type": kind })
    });
    if fields.is_empty() { &TYPE_NAME } else { random.pick(fields) }
}

fn scalar(random: &mut Random, name: &str) -> String {
    match name {
        "Int" => (*random.pick(NUMBERS)).to_owned(),
        "Float" | "Duration" => "1.5".to_owned(),
        "Boolean" => random.one_in(2).to_string(),
        "Time" => format!("\"{}\"", random.pick(TIMES)),
        "Date" | "ISO8601Date" => "\"2024-02-29\"".to_owned(),
        "BigInt" => "\"9223372036854775807\"".to_owned(),
        "JSON" => "{ a: [1, \"b\"] }".to_owned(),
        "JsonString" => "\"{\\\"a\\\": 1}\"".to_owned(),
        "Color" => "\"#aabbcc\"".to_owned(),
        name if name.ends_with("ID") && !(name == "ID" && random.one_in(2)) => {
            format!("\"gid://gitlab/{}/{}\"", class(random, name), random.below(6) + 1)
        }
        _ => Value::from(*random.pick(TEXTS)).to_string(),
    }
}

/// A class of records whose ids a scalar takes: mostly that of its name.
fn class(random: &mut Random, scalar: &str) -> String {
    let any =
        ["Issue", "MergeRequest", "Project", "Group", "User", "Note", "Ci::Pipeline", "Label"];
    let abstracts = ["ID", "GlobalID", "NoteableID", "AwardableID", "IssuableID", "TodoableID"];
    if abstracts.contains(&scalar) {
        return (*random.pick(&any)).to_owned();
    }
    let class = scalar.strip_suffix("ID").unwrap_or(scalar);
    for area in
        ["Ci", "AlertManagement", "Integrations", "Packages", "Clusters", "Terraform", "WorkItems"]
    {
        if let Some(rest) = class.strip_prefix(area).filter(|rest| !rest.is_empty()) {
            return format!("{area}::{rest}");
        }
    }
    class.to_owned()
}

fn is_required(argument: &Value) -> bool {
    argument["type"]["kind"] == "NON_NULL" && argument["defaultValue"].is_null()
}

/// The type below lists and marks.
fn type_name(kind: &Value) -> String {
    match kind.get("ofType").filter(|inner| !inner.is_null()) {
        Some(inner) => type_name(inner),
        None => text(&kind["name"]),
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
