//! The load generator: wrk, told by a small script which requests to send.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    server::TOKEN,
    workspace::{find_program, output},
};

/// Sends the requests of a file, one a line, over and over: a method, a path, and for POST a body in which `@` stands
/// for a number that never comes twice. What lies outside the API is asked without a credential.
const SCRIPT: &str = r#"
local lines, place, made = {}, 0, 0
function setup(thread) number = (number or 0) + 1; thread:set("number", number) end
function init(args)
    for line in io.lines(args[1]) do lines[#lines + 1] = line end
    for at = 1, #lines do
        local method, path, body = lines[at]:match("^(%u+) (%S+) ?(.*)$")
        local bare = path:sub(1, 3) == "/-/" and { Host = wrk.headers["Host"] } or nil
        if method == "GET" then lines[at] = wrk.format(method, path, bare) else lines[at] = { method, path, body } end
    end
    math.randomseed(number)
    place = math.random(#lines)
end
function request()
    place = place % #lines + 1
    local line = lines[place]
    if type(line) == "string" then return line end
    made = made + 1
    local body = line[3]:gsub("@", args_run .. "-" .. number .. "-" .. made)
    return wrk.format(line[1], line[2], wrk.headers, body)
end
"#;

#[derive(Clone)]
pub(super) struct Generator {
    folder: PathBuf,
    /// Sent with each request, beside the token.
    headers: Vec<String>,
    connections: u32,
    seconds: u32,
}

/// What one run of wrk measured; times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measurement {
    pub(super) per_second: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    /// Answers outside 2xx and 3xx, and broken connections.
    pub(super) failed: u64,
}

impl Generator {
    pub(super) fn new(folder: &Path, connections: u32, seconds: u32) -> Result<Self> {
        if find_program("wrk", &[]).is_none() {
            bail!("the load generator wrk is missing: apt-get install wrk");
        }
        Ok(Self { folder: folder.to_owned(), headers: Vec::new(), connections, seconds })
    }

    /// A short run whose figures nobody keeps, then the one that counts.
    pub(super) fn measure(&self, root: &str, requests: &[String]) -> Result<Measurement> {
        self.measure_as(root, requests, None)
    }

    /// As [`measure`](Self::measure), with somebody's token in place of the administrator's.
    pub(super) fn measure_as(
        &self,
        root: &str,
        requests: &[String],
        token: Option<&str>,
    ) -> Result<Measurement> {
        let token = token.unwrap_or(TOKEN);
        self.run(root, requests, token, ("warm", 1))?;
        self.run(root, requests, token, ("run", self.seconds))
    }

    /// The same with another number of connections.
    pub(super) fn with_connections(&self, connections: Option<u32>) -> Self {
        let connections = connections.unwrap_or(self.connections);
        Self { connections, ..self.clone() }
    }

    /// The same with one more header.
    pub(super) fn with_header(&self, header: String) -> Self {
        let mut generator = self.clone();
        generator.headers.push(header);
        generator
    }

    fn run(
        &self,
        root: &str,
        requests: &[String],
        token: &str,
        (name, seconds): (&str, u32),
    ) -> Result<Measurement> {
        let list = self.folder.join("requests.txt");
        std::fs::write(&list, requests.join("\n"))?;
        let script = self.folder.join("requests.lua");
        std::fs::write(&script, format!("args_run = \"{name}\"\n{SCRIPT}"))?;
        let mut wrk = Command::new("wrk");
        wrk.args(["--threads", "1", "--latency", "--timeout", "60s"]);
        wrk.args([
            "--connections",
            &self.connections.to_string(),
            "--duration",
            &format!("{seconds}s"),
        ]);
        wrk.args([
            "--header",
            &format!("PRIVATE-TOKEN: {token}"),
            "--header",
            "Content-Type: application/json",
        ]);
        for header in &self.headers {
            wrk.args(["--header", header]);
        }
        let told = output(wrk.arg("--script").arg(&script).arg(root).arg("--").arg(&list))?;
        parse(&told).with_context(|| told)
    }
}

fn parse(told: &str) -> Option<Measurement> {
    let after =
        |label: &str| told.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim);
    let mut failed =
        after("Non-2xx or 3xx responses:").map_or(Some(0), |count| count.parse().ok())?;
    if let Some(errors) = after("Socket errors:") {
        failed += errors
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|count| count.parse::<u64>().ok())
            .sum::<u64>();
    }
    Some(Measurement {
        per_second: after("Requests/sec:")?.parse().ok()?,
        p50: milliseconds(after("50%")?)?,
        p90: milliseconds(after("90%")?)?,
        p99: milliseconds(after("99%")?)?,
        failed,
    })
}

/// `1.20ms`, `870.00us`, `2.10s`, `1.05m`
fn milliseconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let factor = match &text[end..] {
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        _ => return None,
    };
    Some(text[..end].parse::<f64>().ok()? * factor)
}

/// A path as one segment of an address.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_run_are_read() {
        let told = "  Latency Distribution\n     50%  870.00us\n     75%    1.00ms\n     90%    1.50ms\n     99%    2.10s \n\
                    \x20 10 requests in 1.00s\n  Socket errors: connect 0, read 2, write 0, timeout 1\n\
                    \x20 Non-2xx or 3xx responses: 4\nRequests/sec:  12345.60\nTransfer/sec: 1MB\n";

        let measured = parse(told).unwrap();

        assert_eq!(
            measured,
            Measurement { per_second: 12345.6, p50: 0.87, p90: 1.5, p99: 2100.0, failed: 7 }
        );
    }

    #[test]
    fn a_segment_keeps_no_slash() {
        assert_eq!(encoded("root/a b.c"), "root%2Fa%20b.c");
    }
}
