# cmake -DHOST=b.json -DOUTPUT=out.cpp -P embed.cmake
file(READ ${HOST} host)
file(WRITE ${OUTPUT} "#include \"default_host_model.h\"

namespace mrvlc::partition {

const std::string_view kDefaultHostModelText = R\"HOST(${host})HOST\";

}  // namespace mrvlc::partition
")
