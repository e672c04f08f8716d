"""Many tables on one broker: what a table publishes over MQTT, and the hub that shows all of them."""
