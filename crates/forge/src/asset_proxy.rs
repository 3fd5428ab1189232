//! The proxy for pictures from elsewhere in texts that people write.

use hmac::{Hmac, Mac as _};
use sha1::Sha1;

use crate::{Forge, settings};

/// Where pictures are fetched from instead, and what proves that the address is ours.
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
        let lower = address.to_lowercase();
        let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
        let rest = rest.or_else(|| lower.strip_prefix("//"))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let host = host.split(':').next().unwrap_or_default();
        if self.url.to_lowercase().contains(&format!("://{authority}")) || self.is_open(host) {
            return None;
        }
        let mut mac = Hmac::<Sha1>::new_from_slice(self.key.as_bytes()).ok()?;
        mac.update(address.as_bytes());
        let digest = hex::encode(mac.finalize().into_bytes());
        Some(format!("{}/{digest}/{}", self.url, hex::encode(address)))
    }

    fn is_open(&self, host: &str) -> bool {
        self.allowlist.iter().any(|open| match open.strip_prefix('*') {
            Some(ending) => host.ends_with(ending),
            None => host == open,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::AssetProxy;

    #[test]
    fn pictures_from_elsewhere_come_by_way_of_the_proxy() {
        let proxy = AssetProxy {
            url: "https://assets.example".to_owned(),
            key: "shared-secret".to_owned(),
            allowlist: vec!["forge.example".to_owned(), "*.open.example".to_owned()],
        };
        // As the proxy's own documentation shows it.
        let told = proxy.address("http://example.com/test.png");
        let wanted = "https://assets.example/08df250eeeef1a8cf2c761475ac74c5065105612/\
                      687474703a2f2f6578616d706c652e636f6d2f746573742e706e67";
        assert_eq!(told.as_deref(), Some(wanted));
        for own in [
            "/uploads/a.png",
            "https://forge.example/a.png",
            "https://a.open.example/x",
            "https://assets.example/x",
            "data:image/png;base64,x",
        ] {
            assert_eq!(proxy.address(own), None, "{own}");
        }
        assert!(proxy.address("//else.example/x.png").is_some());
    }
}
