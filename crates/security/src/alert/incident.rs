//! The text of an incident that is opened for an alert.

use std::fmt::Write as _;

use kernel::Result;
use serde_json::Value;
use time::macros::format_description;

use super::Alert;

/// Signs of what was sent that are shown.
const SHOWN: usize = 50_000;

/// As Markdown.
pub(super) fn description(alert: &Alert) -> Result<String> {
    let form = format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");
    let started = alert.started_at.datetime().format(&form).unwrap_or_default();
    let hosts = alert.host_list()?.join(" ");
    let rows = [
        ("Start time", Some(started)),
        ("Severity", Some(alert.severity.to_string())),
        ("Monitoring tool", alert.monitoring_tool.clone()),
        ("Service", alert.service.clone()),
        ("Hosts", (!hosts.is_empty()).then_some(hosts)),
        ("Description", alert.description.clone()),
    ];
    let mut text = "#### Summary\n\n| | |\n| --- | --- |\n".to_owned();
    for (name, value) in rows {
        if let Some(value) = value {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "| {name} | {} |", cell(&value));
        }
    }
    let payload: Value = serde_json::from_str(&alert.payload).unwrap_or_default();
    let shown: String = format!("{payload:#}").chars().take(SHOWN).collect();
    let fence = fence(&shown);
    let _ = write!(text, "\n#### Alert details\n\n{fence}json\n{shown}\n{fence}\n");
    Ok(text)
}

/// A line that ends neither its cell nor its table, and in which nothing is more than text.
fn cell(text: &str) -> String {
    let one_line = text.replace(['\n', '\r'], " ");
    let mut shown = String::with_capacity(one_line.len());
    for sign in one_line.chars() {
        if sign.is_ascii_punctuation() && !matches!(sign, '.' | ',' | ':' | '-' | '/') {
            shown.push('\\');
        }
        shown.push(sign);
    }
    shown
}

/// Longer than any that the text has.
fn fence(text: &str) -> String {
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::{cell, fence};

    #[test]
    fn what_was_sent_stays_text() {
        assert_eq!(cell("a|b\n/close [x](y) @all"), "a\\|b /close \\[x\\]\\(y\\) \\@all");
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("a ````` b"), "``````");
    }
}
