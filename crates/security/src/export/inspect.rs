//! Maps in Ruby's notation, which consumers of these files expect: `{"file"=>"a.rb", "start_line"=>5}`.

use std::fmt::Write as _;

use serde_json::Value;

/// A value in that notation.
pub(super) fn inspect(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, into: &mut String) {
    match value {
        Value::Null => into.push_str("nil"),
        Value::Bool(flag) => into.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => into.push_str(&number.to_string()),
        Value::String(text) => write_text(text, into),
        Value::Array(all) => {
            into.push('[');
            for (place, one) in all.iter().enumerate() {
                if place > 0 {
                    into.push_str(", ");
                }
                write_value(one, into);
            }
            into.push(']');
        }
        Value::Object(fields) => {
            into.push('{');
            for (place, (name, one)) in fields.iter().enumerate() {
                if place > 0 {
                    into.push_str(", ");
                }
                write_text(name, into);
                into.push_str("=>");
                write_value(one, into);
            }
            into.push('}');
        }
    }
}

fn write_text(text: &str, into: &mut String) {
    into.push('"');
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\u{1b}' => into.push_str("\\e"),
            '#' if matches!(signs.peek(), Some('{' | '$' | '@')) => into.push_str("\\#"),
            sign if sign.is_control() => {
                let code = u32::from(sign);
                // Writing to a text cannot fail.
                let _ = match code {
                    0..=0xff => write!(into, "\\x{code:02X}"),
                    _ => write!(into, "\\u{code:04X}"),
                };
            }
            sign => into.push(sign),
        }
    }
    into.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::inspect;

    #[test]
    fn maps_are_written_with_arrows() {
        let location = json!({
            "file": "a \"b\".rb", "start_line": 5, "class": null,
            "dependency": { "package": { "name": "x#{y}" }, "list": [true, 1.5] },
        });
        assert_eq!(
            inspect(&location),
            "{\"file\"=>\"a \\\"b\\\".rb\", \"start_line\"=>5, \"class\"=>nil, \
             \"dependency\"=>{\"package\"=>{\"name\"=>\"x\\#{y}\"}, \"list\"=>[true, 1.5]}}"
        );
        assert_eq!(inspect(&json!({})), "{}");
        assert_eq!(inspect(&json!("a\nb\u{1}")), "\"a\\nb\\x01\"");
    }
}
