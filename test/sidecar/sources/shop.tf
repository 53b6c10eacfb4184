terraform {
  required_version = ">= 1.0"
}

variable "region" {
  type    = string
  default = "eu"
}

locals {
  name = lower(var.region)
  tags = {
    a = 1
  }
}

resource "aws_instance" "web" {
  ami  = data.aws_ami.x.id
  tags = merge(local.tags, { Name = "x-${upper(var.region)}" })
}

module "vpc" {
  source = "./vpc"
}

output "ip" {
  value = aws_instance.web.ip
}
