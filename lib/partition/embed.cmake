# cmake -DFILE=a.rules -DHOST=b.json -DOUTPUT=out.cpp -P embed.cmake
file(READ ${FILE} rules)
file(READ ${HOST} host)
get_filename_component(name ${FILE} NAME)
file(WRITE ${OUTPUT} "#include \"default_rules.h\"

namespace mrvlc::partition {

const std::string_view kDefaultRulesName = \"${name}\";
const std::string_view kDefaultRulesText = R\"RULES(${rules})RULES\";
const std::string_view kDefaultHostModelText = R\"HOST(${host})HOST\";

}  // namespace mrvlc::partition
")
