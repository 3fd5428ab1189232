// Geo nodes through @gitbeaker/rest; gitbeaker.mjs runs these steps among its own.
import assert from "node:assert/strict";

export function geo(api, run, refused) {
  return {
    async "geo nodes"() {
      const node = await api.GeoNodes.create("beaker", "https://beaker.test", { primary: true });
      assert.deepEqual([node.primary, node.url, node.current], [true, "https://beaker.test/", false]);
      assert.equal((await api.GeoNodes.show(node.id)).name, "beaker");
      const change = { name: "beaker", url: "https://beaker.test", reposMaxCapacity: 3 };
      assert.equal((await api.GeoNodes.edit(node.id, change)).repos_max_capacity, 3);
      assert.equal((await api.GeoNodes.repair(node.id)).id, node.id);
      assert.equal((await api.GeoSites.show(node.id)).clone_protocol, undefined);
      await refused(() => api.GeoNodes.showStatus(node.id), 404);
      await refused(() => api.GeoNodes.allFailures(), 404);
      assert.equal((await api.GeoNodes.all()).length, 1);
      await api.GeoNodes.remove(node.id);
      await refused(() => api.GeoNodes.show(node.id), 404);
    },

    async "geo statuses"() {
      const host = process.env.FORGEWAY_URL;
      const site = await api.GeoSites.create(host, host, { primary: true });
      assert.equal(site.current, true);
      const status = await api.GeoSites.showStatus(site.id);
      assert.deepEqual([status.geo_node_id, status.health_status], [site.id, "Healthy"]);
      for (const resource of [api.GeoNodes, api.GeoSites]) {
        const all = await resource.allStatuses();
        assert.deepEqual(all.map((one) => one.geo_node_id), [site.id]);
        assert.equal(all[0].projects_count, status.projects_count);
      }
      await refused(() => api.GeoSites.allFailures(), 404);
      await api.GeoSites.remove(site.id);
      assert.deepEqual(await api.GeoSites.all(), []);
    },
  };
}
