// Builds both images for all processors:  VERSION=1.2.3 docker buildx bake --push
variable "VERSION" { default = "dev" }
variable "IMAGE" { default = "fenceline" }

group "default" { targets = ["fenceline", "analytics"] }

target "fenceline" {
  platforms = ["linux/amd64", "linux/arm64"]
  tags = ["${IMAGE}:${VERSION}"]
}

target "analytics" {
  target = "analytics"
  platforms = ["linux/amd64", "linux/arm64"]
  tags = ["${IMAGE}:${VERSION}-analytics"]
}
