//! The proxy for pictures from elsewhere in texts that people write.

use hmac::{Hmac, Mac as _};
use sha1::Sha1;

use crate::{Forge, settings};

/// The URL of the asset proxy, and the key that signs addresses.
struct AssetProxy {
    url: String,
    key: String,
    /// Hosts whose pictures are shown as they are, with `*` for anything before them.
    allowlist: Vec<String>,
}

/// The HTML of a text with addresses of the proxy, where the settings name one.
pub fn with_proxy(forge: &Forge, html: String) -> String {
    match proxy(forge) {
        Some(proxy) => markup::with_pictures(&html, |address| proxy.address(address)),
        None => html,
    }
}

fn proxy(forge: &Forge) -> Option<AssetProxy> {
    let set = forge.settings();
    if !set.asset_proxy_enabled() {
        return None;
    }
    let mut allowlist: Vec<String> =
        set.asset_proxy_allowlist().into_iter().map(str::to_lowercase).collect();
    allowlist.push(forge.urls.host_name().to_lowercase());
    let key = settings::secret(forge, &set, "asset_proxy_secret_key")?;
    let url = set.asset_proxy_url()?.trim_end_matches('/').to_owned();
    Some(AssetProxy { url, key, allowlist })
}

impl AssetProxy {
    /// The address of a picture by way of the proxy; `None` for one that is shown as it is.
    fn address(&self, address: &str) -> Option<String> {
        let host = host(address)?;
        if is_clear(&host) && (self.is_proxy(&host) || self.is_open(&host)) {
            return None;
        }
        let mut mac = Hmac::<Sha1>::new_from_slice(self.key.as_bytes()).ok()?;
        mac.update(address.as_bytes());
        let digest = hex::encode(mac.finalize().into_bytes());
        Some(format!("{}/{digest}/{}", self.url, hex::encode(address)))
    }

    fn is_proxy(&self, host_name: &str) -> bool {
        host(&self.url).is_some_and(|own| own == host_name)
    }

    fn is_open(&self, host: &str) -> bool {
        self.allowlist.iter().any(|open| match open.strip_prefix('*') {
            Some(ending) => host.ends_with(ending),
            None => host == open,
        })
    }
}

/// The host to which a browser goes for a picture, in small letters; empty where none can be made out. `None` for an address
/// that leads to no other host than that of the page.
fn host(address: &str) -> Option<String> {
    // As browsers do: blanks around the address and line breaks inside do not count, and `\` is another `/`.
    let trimmed = address.trim_matches(|sign: char| sign <= ' ');
    let plain = trimmed.replace(['\t', '\n', '\r'], "").replace('\\', "/").to_lowercase();
    let rest = match plain.strip_prefix("https:").or_else(|| plain.strip_prefix("http:")) {
        Some(rest) => rest,
        None => plain.strip_prefix("//")?,
    };
    // Nor does it matter how many slashes there are.
    let rest = rest.trim_start_matches('/');
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let host = match place.split_once(']') {
        Some((number, _port)) if number.starts_with('[') => format!("{number}]"),
        _ => place.split(':').next().unwrap_or_default().to_owned(),
    };
    Some(host)
}

/// Whether a host is written in a way that no browser reads as another one. Nobody compares escaped and odd signs.
fn is_clear(host: &str) -> bool {
    let is_plain = |sign: char| sign.is_alphanumeric() || "-._:[]".contains(sign);
    !host.is_empty() && host.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::AssetProxy;

    fn proxy() -> AssetProxy {
        AssetProxy {
            url: "https://assets.example.com".to_owned(),
            key: "shared-secret".to_owned(),
            allowlist: vec!["forge.example".to_owned(), "*.open.example".to_owned()],
        }
    }

    #[test]
    fn addresses_that_browsers_read_in_another_way_lead_to_the_proxy() {
        for foreign in [
            "https://assets.example.co/x",
            "https://assets.example.com.evil.example/x",
            "https://assets.example.com@evil.example/x",
            "https://evil.example\\@forge.example/x",
            "https://evil.example/@forge.example/x",
            "https://evil.example#@forge.example/x",
            "https://evil.example%2f.open.example/x",
            "https://evil.example\u{ff0f}.open.example/x",
            "https:///evil.example/x",
            "https:/evil.example/x",
            "https:\\\\evil.example/x",
            "HTTPS://evil.example/x",
            "ht\ttps://evil.example/x",
            "\u{1} https://evil.example/x",
            "/\\evil.example/x",
            "\\\\evil.example/x",
            "/\n/evil.example/x",
            "///evil.example/x",
            "https://forge.example.:443@[::1]/x",
            "https://",
            "//",
        ] {
            assert!(proxy().address(foreign).is_some(), "{foreign:?}");
        }
    }

    #[test]
    fn pictures_from_elsewhere_come_by_way_of_the_proxy() {
        let proxy = proxy();
        // As the proxy's own documentation shows it.
        let told = proxy.address("http://example.com/test.png");
        let wanted = "https://assets.example.com/08df250eeeef1a8cf2c761475ac74c5065105612/\
                      687474703a2f2f6578616d706c652e636f6d2f746573742e706e67";
        assert_eq!(told.as_deref(), Some(wanted));
        for own in [
            "/uploads/a.png",
            "/a//b.png",
            "https://forge.example/a.png",
            "https://FORGE.example:8080/a.png",
            "\\uploads\\a.png",
            "https://a.open.example/x",
            "https://assets.example.com/x",
            "data:image/png;base64,x",
        ] {
            assert_eq!(proxy.address(own), None, "{own}");
        }
        assert!(proxy.address("//else.example/x.png").is_some());
    }
}
